"""The pet store in Python, with its standard library alone: its integers have any size."""

import json
import re
import sys
import time
import uuid
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin
from urllib.request import Request, urlopen


class Petstore:
    def __init__(self, origin, key):
        self.pets = origin + "/v1/pets"
        self.headers = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}

    def add(self, pet):
        """Adds an animal exactly once: until there is an answer, it is sent again with the same key."""
        headers = {**self.headers, "Idempotency-Key": str(uuid.uuid4())}
        while True:
            seconds = 1
            try:
                with urlopen(Request(self.pets, json.dumps(pet).encode(), headers)) as reply:
                    return json.load(reply)
            except HTTPError as error:
                if error.code < 500 and error.code not in (408, 429):
                    raise RuntimeError(error.read().decode()) from error
                seconds = int(error.headers.get("Retry-After", 1))
            except (URLError, OSError):
                pass  # The connection broke.
            time.sleep(seconds)

    def list(self, query=""):
        """Every animal: each page names the next one in its Link header, the last page does not."""
        url = self.pets + query
        while url:
            with urlopen(Request(url, headers=self.headers)) as reply:
                yield from json.load(reply)
                link = re.match('<([^>]*)>; rel="next"', reply.headers.get("Link", ""))
            url = link and urljoin(url, link[1])


if __name__ == "__main__":
    petstore = Petstore(*sys.argv[1:])
    petstore.add({"name": "Leo", "categoryId": 2**63 - 1, "status": "sold"})
    for pet in petstore.list("?status=sold"):
        print(pet["id"], pet["categoryId"], pet["name"])
