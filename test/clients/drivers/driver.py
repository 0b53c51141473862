"""Calls the client as each line says, all at the same time, and prints what it gets."""

import json
import sys
import threading

from petstore import Petstore, PetstoreError


def run(job, pets):
    limits = job["limits"]
    for name in ("timeout", "total"):
        if name in limits:
            limits[name] /= 1000
    try:
        petstore = Petstore(job["url"], job["key"], **limits)
        if job.get("name"):
            new = {"name": job["name"], "categoryId": 2**63 - 1, "status": "sold"}
            pets.append(petstore.add(new, job["once"]))
        else:
            pets.extend(petstore.list("pending"))
    except PetstoreError as error:
        return {"isOurs": True, "status": error.status, "code": error.code, "requestId": error.request_id,
                "message": str(error), "cause": repr(error.__cause__ or "")}
    except BaseException as error:
        return {"isOurs": False, "message": repr(error)}


def report(job):
    pets = []
    error = run(job, pets)
    texts = [f"{pet.get('id')} {pet.get('categoryId')} {pet.get('name')} {pet.get('status')}" for pet in pets]
    print(json.dumps({"job": job["job"], "pets": texts, **({"error": error} if error else {})}) + "\n", end="", flush=True)


for line in sys.stdin:
    threading.Thread(target=report, args=[json.loads(line)]).start()
