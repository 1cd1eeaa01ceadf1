/** What `canonicalEntry` and `canonicalClose` hash, in the order of its values; `README.txt` of a binder shows it. */
export const hashedFields = {
  entry: [
    ...['id', 'place', 'date', 'document date', 'reason', 'description', 'reversed entry', 'original', 'key'],
    ...['hash of the facts', 'lines', 'posting mode', 'VAT period', 'late', 'hash of the mapping'],
  ],
  line: [
    ...['account', 'role', 'side', 'amount', 'rule', 'place in the mapping', 'party: code, VAT number, country'],
    ...['department', 'dimensions', 'internal account and dimensions', 'invoice', 'payment type', 'document number'],
    ...['due date', 'bank reference', 'VAT: group, rate, base', 'rows'],
  ],
  close: [
    ...['kind', 'installation', 'place', 'closed through', 'entries before it', 'daily summaries before it'],
    ...['hash of the last of these summaries', 'SHA-256 of the details'],
  ],
};

/** A program that checks the links of `chain.txt` files without vetledger; `README.txt` of a binder shows it. */
export const verifyProgram = `import hashlib, sys
links = {}
for name in sys.argv[1:]:
    for line in open(name, encoding="utf-8", newline="\\n"):
        place, before, own, text = line.rstrip("\\n").split("\\t", 3)
        if hashlib.sha256((before + "\\n" + text).encode("utf-8")).hexdigest() != own:
            sys.exit("link " + place + " was changed")
        links[int(place)] = (before, own)
absent = 0
for place in sorted(links):
    before = links[place - 1][1] if place - 1 in links else "0" * 64 if place == 1 else None
    absent += before is None
    if before is not None and before != links[place][0]:
        sys.exit("link " + str(place) + " does not follow the link before it")
last = max(links)
print(len(links), "links are unchanged; the last is", last, links[last][1])
print("gaps that other months fill:", absent)
`;
