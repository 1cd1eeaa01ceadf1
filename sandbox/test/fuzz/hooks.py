# What the fuzzer cannot draw from the description: which records the clinic has. References and ids in bodies that name no existing record
# are replaced by ones that do, so that requests that fit the description reach what the endpoints do. EXISTING_RECORDS names the file of ids.
import json
import os
import re

import schemathesis

with open(os.environ["EXISTING_RECORDS"]) as file:
    ids = json.load(file)

REFERENCE = re.compile(r"^(https?://.*/4711/api/0\.1/([a-z_]+)/)([0-9]{1,15})(/(?:\?.*)?)$")
# Fields that are ids, by what they name.
FIELDS = {
    "client_id": "client",
    "department_id": "department",
    "prescriber_id": "prescriber",
    "consultation_id": "consultation",
    "invoice_id": "invoice",
    "species": "species",
    "breed": "breed",
    "field_id": "field",
    "diagnosis": "diagnosis",
    "patients": "patient",
}


def existing(resource, number):
    known = ids.get(resource)
    return known[number % len(known)] if known else number


def replaced(value, field=None):
    if isinstance(value, dict):
        return {key: replaced(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [replaced(inner, field) for inner in value]
    if isinstance(value, str):
        found = REFERENCE.match(value)
        if found:
            start, resource, number, end = found.groups()
            return f"{start}{existing(resource, int(number))}{end}"
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0 and field in FIELDS:
        return existing(FIELDS[field], int(value)) if value == int(value) else value
    return value


@schemathesis.hook
def before_call(context, case, kwargs):
    case.body = replaced(case.body)
    # The pages that can be served end at an offset of 10,000 records, which depends on two parameters.
    page = str((case.query or {}).get("page", ""))
    if page.isdecimal() and int(page) > 5:
        case.query["page"] = int(page) % 5 + 1
    # A form has no null: a field without value is left out.
    if isinstance(case.body, dict) and "form" in (case.media_type or ""):
        case.body = {name: value for name, value in case.body.items() if value is not None}
    # What is added to a consultation names the one in the path.
    if isinstance(case.body, dict) and isinstance(case.body.get("consultation"), str) and "/consultation/{" in case.path:
        own = str(case.path_parameters["id"])
        case.body["consultation"] = REFERENCE.sub(rf"\g<1>{own}\g<4>", case.body["consultation"])
