"""The pet store in Python, with its standard library alone. Its integers have any size: ids are exact."""

import json
import random
import re
import ssl
import time
from calendar import timegm
from contextlib import suppress
from copy import copy
from email.utils import parsedate
from socket import EAI_NONAME, SHUT_RDWR
from threading import Thread
from urllib.request import HTTPErrorProcessor, HTTPHandler, HTTPSHandler, Request, build_opener

FIRST_WAIT = 0.5  # seconds before the second attempt; each further wait is twice as long
ORIGIN = r"(https?://(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d+)?(?:/[\w.~-]+)*?)(?:/v1)?/*"
PASSING = {408, 429, 500, 502, 503, 504}  # all others from 300 on are final


class PetstoreError(Exception):
    """Of the service, or `no_answer` (status 0) and `bad_answer` where it did not speak. Report the request id."""

    def __init__(self, status, code, message, request_id, retry_after):
        super().__init__(re.sub(r"[\x00-\x1f\x7f-\x9f]+", " ", f"{status} {code}: {message} (request {request_id})"))
        self.status, self.code, self.message, self.request_id = status, code, message, request_id
        self.retry_after = retry_after  # in seconds; infinite where another attempt would fail, too


class Handler(HTTPHandler, HTTPSHandler, HTTPErrorProcessor):
    """Follows no redirects: the key is for one server, and a create would become a read."""

    http_response = https_response = lambda self, request, reply: reply

    def do_open(self, http_class, request, **options):
        def connect(*args, **more):
            request.connection = http_class(*args, **more)
            return request.connection
        return super().do_open(connect, request, **options)


class Answer:
    """As far as it has arrived; `cause` is why no more did."""
    status, headers, text, cause = 0, {}, b"", None

    def read(self, opener, request, timeout):
        end = time.monotonic() + timeout
        try:
            with opener.open(request, timeout=timeout) as reply:
                self.status, self.headers = reply.status, reply.headers
                while (piece := reply.read1(65536)) and len(self.text) < 10_000_000 and time.monotonic() < end:
                    self.text += piece
                if piece or reply.length:
                    raise OSError("The answer is cut off, too long, or takes too long.")
        except Exception as cause:  # whatever it is, there is no answer
            self.cause = cause

    def to_error(self, key):
        text = self.text.decode(errors="replace").replace(key, "[key]")  # A gateway's page may show the request.
        body, status, reason = to_json(text), self.status, getattr(self.cause, "reason", self.cause)
        # No such server, or a certificate of another one.
        is_hopeless = isinstance(reason, ssl.SSLCertVerificationError) or getattr(reason, "errno", 0) == EAI_NONAME
        is_final = is_hopeless if status == 0 else status >= 300 and status not in PASSING
        retry_after = float("inf") if is_final else seconds_in(self.headers.get("Retry-After", ""))
        code, message = (body.get("code"), body.get("message")) if isinstance(body, dict) else (None, None)
        if status < 400 or not isinstance(code, str) or not isinstance(message, str) or body.get("status") != status:
            code = "bad_answer" if status else "no_answer"
            message = f"The answer is none of the service, or not whole. It begins: {text[:200]}" if status else repr(reason)
        return PetstoreError(status, code, message, self.headers.get("X-Request-Id"), retry_after)


class Petstore:
    def __init__(self, url, key, attempts=6, timeout=10, total=120):
        """`url` is where the service is: https://petstore.example. Of each request, an attempt may take `timeout`
        seconds, and all attempts with the waits between them `total`."""
        origin = re.fullmatch(ORIGIN, url, re.ASCII)
        if not origin:
            raise ValueError("The URL must be like https://petstore.example")
        self.pets, self.key = origin[1] + "/v1/pets", check("The API key", key)
        self.attempts, self.timeout, self.total = attempts, timeout, total
        self.opener = build_opener(Handler)

    def add(self, pet, once):
        """Adds an animal. `once` is a UUID of yours: sent again with it, also by another run, it is added once."""
        return self._send("", 201, is_pet, json.dumps(pet).encode(), {"Idempotency-Key": check("once", once)})[0]

    def list(self, status=None):
        """Every animal, or those with this status: each page names the next one in its Link header."""
        query, read = "?limit=100" + (f"&status={status}" if status else ""), {""}
        while query is not None:
            pets, answer = self._send(query, 200, lambda body: isinstance(body, list) and all(map(is_pet, body)))
            yield from pets
            read.add(query)
            link = ", ".join(answer.headers.get_all("Link", []))
            found = re.search(r'<[^>?]*(?:(\?[\w.~%&=+-]+)|[^>]*)>[^<]*\brel="?next\b', link, re.ASCII)
            query = (found[1] or "") if found else None  # for the same server
            if query in read:
                raise PetstoreError(200, "bad_answer", "The next page was read before.", answer.headers["X-Request-Id"], 0)

    def _send(self, query, status, is_declared, data=None, headers={}):
        headers = {**headers, "Authorization": "Bearer " + self.key, "Content-Type": "application/json"}
        end = time.monotonic() + self.total
        for attempt in range(1, self.attempts + 1):
            answer, request = Answer(), Request(self.pets + query, data, headers)
            timeout = min(self.timeout, end - time.monotonic())
            reading = Thread(target=answer.read, args=[self.opener, request, timeout], daemon=True)
            reading.start()
            reading.join(timeout)
            if reading.is_alive():  # No timeout of a socket ends the look-up of a name, or headers that drip.
                answer = copy(answer)  # The thread may still change its own.
                answer.cause = TimeoutError("The answer takes too long.")
                with suppress(AttributeError, OSError):
                    request.connection.sock.shutdown(SHUT_RDWR)
            if not answer.cause and answer.status == status and is_declared(body := to_json(answer.text)):
                return body, answer
            failure = answer.to_error(self.key)
            pause = failure.retry_after + FIRST_WAIT * 2 ** (attempt - 1) * random.uniform(0.5, 1)
            if attempt == self.attempts or time.monotonic() + pause >= end:
                raise failure from answer.cause
            time.sleep(pause)


def check(name, text):
    if not re.fullmatch("[!-~]+", text):
        raise ValueError(name + " must have visible ASCII characters only")
    return text


def is_pet(body):
    is_whole = isinstance(body, dict) and isinstance(body.get("name"), str) and isinstance(body.get("status", ""), str)
    return is_whole and all(type(body.get(name)) is int and -(2**63) <= body[name] < 2**63 for name in ("id", "categoryId"))


def to_json(text):
    """None where it is no JSON in UTF-8."""
    try:
        return json.loads(text if isinstance(text, str) else text.decode())
    except (ValueError, RecursionError):
        return None


def seconds_in(retry_after):
    """Seconds, or a date in one of three forms (RFC 9110, section 10.2.3); 0 where it is neither."""
    if re.fullmatch("[0-9]+", retry_after):
        return float(retry_after)
    try:
        return max(0, timegm(parsedate(retry_after)) - time.time())
    except (TypeError, ValueError, OverflowError):
        return 0
