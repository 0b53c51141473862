"""The pet store in Python, with its standard library alone. Its integers have any size: ids are exact."""

import json
import random
import re
import ssl
import time
from calendar import timegm
from email.utils import parsedate
from http.client import HTTPException
from socket import EAI_NONAME
from urllib.request import HTTPErrorProcessor, Request, build_opener

ATTEMPTS = 6  # of each request, the first one included
TIMEOUT = 10  # seconds, of each attempt
FIRST_WAIT = 0.5  # seconds before the second attempt; each further wait is twice as long
LONGEST_WAIT = 60  # seconds; who is told to wait for longer gets the error instead
PASSING = {408, 429, 500, 502, 503, 504}  # all other failures are final


class PetstoreError(Exception):
    """Of the service, or `no_answer` (status 0) and `bad_answer` where it did not speak. Report the request id."""

    def __init__(self, status, code, message, request_id=None, retry_after=None):
        super().__init__(f"{status} {code}: {message} (request {request_id})")
        self.status, self.code, self.message, self.request_id = status, code, message, request_id
        self.retry_after = retry_after  # in seconds; None where another attempt would fail, too


class AsItComes(HTTPErrorProcessor):
    """No redirects: the key is for one server, and a create would become a read."""

    def http_response(self, _request, reply):
        return reply

    https_response = http_response


class Petstore:
    def __init__(self, url, key):
        """`url` is where the service is: https://petstore.example"""
        if not re.match("https?://[^/]", url):
            raise ValueError(f"The URL must begin with https:// or http://, unlike {url}")
        self.pets = url.rstrip("/") + "/v1/pets"
        self.headers = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}
        self.opener = build_opener(AsItComes)

    def add(self, pet, once):
        """Adds an animal. `once` is a UUID of yours: sent again with it, also by another run, it is added once."""
        headers = {**self.headers, "Idempotency-Key": once}
        return self._send(Request(self.pets, json.dumps(pet).encode(), headers), 201, dict)[0]

    def list(self, status=None):
        """Every animal, or those with this status: each page names the next one in its Link header."""
        url = self.pets + "?limit=100" + (f"&status={status}" if status else "")
        while url:
            pets, headers = self._send(Request(url, headers=self.headers), 200, list)
            yield from pets
            link = re.search(r'(\?[^>]*)>; rel="next"', headers.get("Link", ""))
            url = link and self.pets + link[1]

    def _send(self, request, status, kind):
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._attempt(request, status, kind)
            except PetstoreError as error:
                if error.retry_after is None or error.retry_after > LONGEST_WAIT or attempt == ATTEMPTS:
                    raise
                time.sleep(error.retry_after + FIRST_WAIT * 2 ** (attempt - 1) * random.uniform(0.5, 1))

    def _attempt(self, request, status, kind):
        deadline, text = time.monotonic() + TIMEOUT, b""
        try:
            with self.opener.open(request, timeout=TIMEOUT) as reply:
                while piece := reply.read1():
                    text += piece
                    if time.monotonic() > deadline:
                        raise TimeoutError("The answer takes too long.")
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            is_final = isinstance(reason, ssl.SSLCertVerificationError) or getattr(reason, "errno", 0) == EAI_NONAME
            raise PetstoreError(0, "no_answer", repr(reason), retry_after=None if is_final else 0) from error
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            body = None
        if reply.status == status and isinstance(body, kind):
            return body, reply.headers
        is_passing = reply.status in PASSING or 200 <= reply.status < 300
        retry_after = seconds_in(reply.headers.get("Retry-After", "")) if is_passing else None
        if reply.status < 400 or not isinstance(body, dict) or "code" not in body:
            body = {"code": "bad_answer", "message": "The answer is none of the service."}
        raise PetstoreError(reply.status, body["code"], body.get("message"), reply.headers.get("X-Request-Id"), retry_after)


def seconds_in(retry_after):
    """Seconds, or a date in one of three forms (RFC 9110, section 10.2.3); 0 where it is neither."""
    if re.fullmatch("[0-9]+", retry_after):
        return float(retry_after)
    try:
        return max(0, timegm(parsedate(retry_after)) - time.time())
    except (TypeError, ValueError, OverflowError):
        return 0
