"""Every posting of a beancount ledger as JSON lines: date, account, number, currency and its metadata.

Errors of the ledger go to stderr and end with exit code 1.
"""

import json
import sys

from beancount import loader
from beancount.core.data import Transaction
from beancount.parser import printer

entries, errors, _ = loader.load_file(sys.argv[1])
if errors:
    printer.print_errors(errors, file=sys.stderr)
    sys.exit(1)
for entry in entries:
    if not isinstance(entry, Transaction):
        continue
    for posting in entry.postings:
        tags = {name: value for name, value in posting.meta.items() if isinstance(value, str) and name != "filename"}
        print(
            json.dumps(
                {
                    "entry": entry.meta["code"],
                    "date": entry.date.isoformat(),
                    "account": posting.account,
                    "amount": str(posting.units.number),
                    "currency": posting.units.currency,
                    "tags": tags,
                }
            )
        )
