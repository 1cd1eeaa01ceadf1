#!/usr/bin/env python3
"""A wholesaler's whole job against the sandbox, written from its guide and the specification alone.

Usage: wholesaler.py http://127.0.0.1:8090"""
import base64, datetime, hashlib, hmac, http.client, json, re, sys, threading, time, traceback, urllib.error, urllib.parse, urllib.request, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

if len(sys.argv) != 2:
    sys.exit(__doc__)
BASE = sys.argv[1].rstrip('/')
checks = failed = 0


def check(name, ok, detail=''):
    global checks, failed
    checks += 1
    failed += not ok
    print(('ok   ' if ok else 'FAIL ') + name + ('' if ok or detail == '' else f'  -- {str(detail)[:3000]}'), flush=True)
    return ok


def raw(method, url, data=None, headers=None, timeout=15):
    """(status, headers, body bytes); status 0 where no answer came."""
    request = urllib.request.Request(url, data, headers or {}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()
    except (urllib.error.URLError, http.client.HTTPException, OSError):
        return 0, {}, b''


def call(method, url, body=None, token=None, **headers):
    sent = {k.replace('_', '-'): v for k, v in headers.items()}
    if token:
        sent['Authorization'] = f'Bearer {token}'
    data = None
    if body is not None:
        sent.setdefault('Content-Type', 'application/json')
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
    status, _, content = raw(method, url, data, sent)
    try:
        return status, json.loads(content) if content else None
    except ValueError:
        return status, content.decode('utf-8', 'replace')


def control(method, path, body=None):
    status, answer = call(method, f'{BASE}/sandbox/{path}', body)
    if status >= 300 or status == 0:
        raise RuntimeError(f'control {method} {path}: {status} {answer}')
    return answer


# ---- the wholesaler's receiver -------------------------------------------------------------------------------------------
class Receiver:
    def __init__(self):
        self.events, self.duplicates, self.forged, self.answers = [], [], [], []
        self.salts, self.seen, self.lock = [], set(), threading.Condition()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get('Content-Length', 0)))
                status = outer.take(self.headers, body)
                self.send_response(status)
                self.send_header('Content-Length', '0')
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}/hook'

    def take(self, headers, body):
        with self.lock:
            if self.answers:                      # refuse on purpose: an attempt that is not taken
                return self.answers.pop(0)
            stamp, signature = headers.get('X-Webhook-Timestamp', ''), headers.get('X-Webhook-Signature', '')
            good = [s for s in self.salts if hmac.compare_digest(sign(s, stamp, body), signature)]
            if not good:
                self.forged.append((dict(headers), body))
                self.lock.notify_all()
                return 401
            event = json.loads(body)
            event['_'] = {'salt': good[0], 'type': headers.get('Content-Type', ''), 'stamp': stamp, 'body': body}
            if event['event_id'] in self.seen:
                self.duplicates.append(event)
            else:
                self.seen.add(event['event_id'])
                self.events.append(event)
            self.lock.notify_all()
            return 200

    def wait(self, predicate, what='events', timeout=6):
        end = time.monotonic() + timeout
        with self.lock:
            while True:
                found = [e for e in getattr(self, what) if predicate(e)]
                if found or time.monotonic() > end:
                    return found[0] if found else None
                self.lock.wait(0.2)


def sign(salt, stamp, body):
    return 'v1=' + hmac.new(salt.encode(), stamp.encode() + b'.' + body, hashlib.sha256).hexdigest()


def after(count, event, **ids):
    """The next event of a kind after the first `count` events, whose ids match."""
    def matches(e):
        if e['event'] != event or receiver.events.index(e) < count:
            return False
        return all(e[k.split('__')[0]][k.split('__')[1]] == v for k, v in ids.items())
    return receiver.wait(matches)


def attempted(event, fits, timeout=6):
    """The journal's attempts of an event, as soon as they fit: the sandbox journals an attempt after the receiver has answered it."""
    end = time.monotonic() + timeout
    while True:
        attempts = control('GET', f'webhook_attempts?event={event}')['webhook_attempts']
        if fits(attempts) or time.monotonic() > end:
            return attempts
        time.sleep(0.02)


def upload(form, content, content_type=None, drop=None, url=None, filename='catalog.csv', tweak=None):
    border = uuid.uuid4().hex
    parts = []
    for k, v in {**form['fields'], **(tweak or {})}.items():
        if k != drop:
            parts.append(f'--{border}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'.encode())
    parts.append(f'--{border}\r\nContent-Disposition: form-data; name="file"; filename="{filename}"\r\nContent-Type: {content_type or "text/csv"}\r\n\r\n'.encode()
                 + content + f'\r\n--{border}--\r\n'.encode())
    status, _, body = raw('POST', url or form['url'], b''.join(parts), {'Content-Type': f'multipart/form-data; boundary={border}'})
    return status, body.decode('utf-8', 'replace')


UUID = re.compile(r'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', re.I)
REFUSED = 'Token does not match this wholesaler.'
integer = lambda v: isinstance(v, int) and not isinstance(v, bool)
string = lambda v: isinstance(v, str)


def types(name, record, shapes, exactly=True):
    wrong = [f'{k}: {record.get(k, "missing")!r}' for k, fits in shapes.items() if k not in record or not fits(record[k])]
    if exactly:
        wrong += [f'unexpected {k}' for k in record if k not in shapes and k != '_']
    check(name, not wrong, '; '.join(wrong))


opt = lambda fits: lambda v: v is None or fits(v)
receiver = Receiver()


def main():
    control('POST', 'reset')
    control('POST', 'quirks', {'loopbackCallbacks': True})
    control('DELETE', 'requests')
    control('DELETE', 'webhook_attempts')
    index = json.loads(raw('GET', BASE + '/', headers={'Accept': 'application/json'})[2])
    API, token_url = index['installations'][0]['api'].rstrip('/'), index['installations'][0]['token_url']

    # -- token ------------------------------------------------------------------------------------------------------------
    def token(client, secret, **more):
        basic = base64.b64encode(f'{client}:{secret}'.encode()).decode()
        status, _, body = raw('POST', token_url, urllib.parse.urlencode({'grant_type': 'client_credentials', **more}).encode(),
                              {'Authorization': f'Basic {basic}', 'Content-Type': 'application/x-www-form-urlencoded'})
        return status, json.loads(body)
    status, grant = token('wholesaler-client', 'wholesaler-secret', scope='wholesaler')
    check('token: 200 by client credentials', status == 200, grant)
    types('token: fields', grant, {'access_token': string, 'token_type': lambda v: v == 'Bearer', 'expires_in': integer, 'scope': lambda v: v == 'wholesaler'}, False)
    T = grant['access_token']
    check('token: wrong secret 401', token('wholesaler-client', 'wrong', scope='wholesaler')[0] == 401)
    check('token: a scope that the application lacks 400 invalid_scope', token('sandbox-client', 'sandbox-secret', scope='wholesaler') == (400, {'error': 'invalid_scope'}))
    OTHER = token('explorer-client', 'explorer-secret', scope='wholesaler')[1]['access_token']
    status, _ = call('GET', API + '/available_wholesaler/')
    check('auth: no token 401', status == 401, status)
    check('auth: unknown token 401', call('GET', API + '/available_wholesaler/', token='nonsense')[0] == 401)
    check('auth: token without the wholesaler scope 403', call('GET', API + '/available_wholesaler/', token='sandbox-token')[0] == 403)
    check('auth: wholesaler scope opens no core endpoint (403)', call('GET', API + '/invoice/', token=T)[0] == 403)
    control('POST', 'quirks', {'tokenSeconds': 1})
    short = token('wholesaler-client', 'wholesaler-secret', scope='wholesaler')[1]
    control('POST', 'quirks', {'tokenSeconds': 36000})
    time.sleep(1.2)
    good = {'name': 'Vet Wholesale Oy', 'email': 'edi@example.com', 'register_number': '1234567-8', 'webhook_callback_url': receiver.url, 'verification_salt': 'sälti-0123456789-ö'}
    check('auth: expired token 401 on create', call('POST', API + '/available_wholesaler/', good, short['access_token'])[0] == 401)
    control('POST', 'legacy_key', {'key': 'old-key'})
    for form in ({'Authorization': 'Api-Key old-key'}, {'Authorization': 'Token old-key'}, {'Authorization': 'Bearer old-key'}, {'X-Api-Key': 'old-key'}):
        status, answer = call('POST', API + '/available_wholesaler/', good, **form)
        check(f'auth: create with a legacy key ({form}) 401', status == 401, (status, answer))
    control('POST', 'legacy_key', {'key': None})

    # -- registration -----------------------------------------------------------------------------------------------------
    control('DELETE', 'quirks')
    for url in ('http://example.com/h', 'https://127.0.0.1/h', 'https://localhost/h', 'https://10.1.2.3/h', 'https://192.168.1.1/h', 'https://172.16.0.1/h',
                'https://169.254.169.254/h', 'https://[::1]/h', 'https://[fd00::1]/h', 'https://2130706433/h', 'https://0.0.0.0/h', 'https://[::ffff:127.0.0.1]/h', 'ftp://example.com/h', 'nonsense', receiver.url):
        status, answer = call('POST', API + '/available_wholesaler/', {**good, 'webhook_callback_url': url}, T)
        check(f'register: callback {url.replace(receiver.url, "of this program, no quirk")} 400', status == 400 and 'webhook_callback_url' in answer, (status, answer))
    status, answer = call('POST', API + '/available_wholesaler/', {**good, 'webhook_callback_url': 'https://example.com/h'}, T)
    check('register: public https callback 201', status == 201, (status, answer))
    control('POST', 'quirks', {'loopbackCallbacks': True})
    for size, expected in ((15, 400), (16, 201), (128, 201), (129, 400)):
        status, answer = call('POST', API + '/available_wholesaler/', {**good, 'verification_salt': 'ä' * size}, T)
        check(f'register: salt of {size} characters {expected}', status == expected, (status, answer))
    for key in ('name', 'verification_salt'):
        status, answer = call('POST', API + '/available_wholesaler/', {k: v for k, v in good.items() if k != key}, T)
        check(f'register: without {key} 400, keyed by it', status == 400 and key in answer, (status, answer))
    check('register: nothing is made by a refusal', call('GET', API + '/available_wholesaler/', token=T)[1]['count'] == 3)
    status, aw = call('POST', API + '/available_wholesaler/', {**good, 'owner': 99, 'id': 4242}, T)
    check('register: 201', status == 201, aw)
    types('register: fields', aw, {'id': integer, 'name': lambda v: v == good['name'], 'email': lambda v: v == good['email'], 'register_number': lambda v: v == '1234567-8',
                                   'webhook_callback_url': lambda v: v == receiver.url}, False)
    check('register: salt is write-only (create)', 'verification_salt' not in aw and good['verification_salt'] not in json.dumps(aw, ensure_ascii=False))
    check('register: id is read-only', aw['id'] != 4242)
    AW = f'{API}/available_wholesaler/{aw["id"]}/'
    status, read = call('GET', AW, token=T)
    check('register: retrieve equals the created record', status == 200 and read == aw, read)
    status, page = call('GET', API + '/available_wholesaler/?page_size=2', token=T)
    types('register: list envelope', page, {'count': lambda v: v == 4, 'num_pages': lambda v: v == 2, 'next': string, 'previous': lambda v: v is None,
                                           'results': lambda v: len(v) == 2 and all('verification_salt' not in r for r in v)})
    check('register: owner in the body is ignored (the caller may change it)', call('PATCH', AW, {'email': 'x@example.com'}, T)[0] == 200)
    status, answer = call('PATCH', AW, {'name': 'Stolen'}, OTHER)
    check('register: update by another application 403 with the text', status == 403 and REFUSED in json.dumps(answer), (status, answer))
    status, answer = call('DELETE', AW, token=OTHER)
    check('register: delete by another application 403 with the text', status == 403 and REFUSED in json.dumps(answer), (status, answer))
    check('register: PATCH with a short salt 400', call('PATCH', AW, {'verification_salt': 'short'}, T)[0] == 400)
    check('register: PATCH with http on a public host 400', call('PATCH', AW, {'webhook_callback_url': 'http://example.com/'}, T)[0] == 400)
    status, nulls = call('PATCH', AW, {'email': None, 'register_number': None}, T)
    check('register: email and register_number may be null', status == 200 and nulls['email'] is None and nulls['register_number'] is None, nulls)
    call('PATCH', AW, {'email': good['email'], 'register_number': '1234567-8'}, T)
    check('register: unknown id 404', call('GET', f'{API}/available_wholesaler/999999/', token=T)[0] == 404)

    # -- credentials by webhook ---------------------------------------------------------------------------------------------
    receiver.salts = [good['verification_salt']]
    receiver.answers = [500]                       # the first attempt fails: the event must come again with the same id
    connected = control('POST', 'wholesalers', {'available_wholesaler': aw['id'], 'customer_number': 'C-1', 'customer_username': 'clinic', 'customer_password': 'pässword', 'department': None})
    w = connected['id']
    created = after(0, 'wholesaler.created', wholesaler__id=w)
    check('created: event arrives, signed, after a failed attempt', created is not None, receiver.forged)
    types('created: top level', created, {'event': string, 'event_id': lambda v: bool(UUID.match(v)), 'available_wholesaler': lambda v: True, 'wholesaler': lambda v: True})
    types('created: available_wholesaler', created['available_wholesaler'], {'id': lambda v: v == aw['id'], 'name': lambda v: v == good['name'], 'email': lambda v: v == good['email'], 'register_number': lambda v: v == '1234567-8'})
    types('created: wholesaler', created['wholesaler'], {'id': lambda v: v == w, 'customer_number': lambda v: v == 'C-1', 'customer_username': lambda v: v == 'clinic',
                                                       'customer_password': lambda v: v == 'pässword', 'department': lambda v: v is None})
    check('created: JSON content type', created['_']['type'].startswith('application/json'), created['_']['type'])
    check('created: salt is not in the delivery', good['verification_salt'].encode() not in created['_']['body'])
    check('created: timestamp is recent seconds', abs(int(created['_']['stamp']) - time.time()) < 300, created['_']['stamp'])
    attempts = attempted('wholesaler.created', lambda found: len(found) == 2 and found[1]['status'] is not None)
    check('created: journal shows attempts 500 and 200, one event_id', [a['status'] for a in attempts] == [500, 200] and len({json.loads(a['body'])['event_id'] for a in attempts}) == 1, attempts)
    control('POST', f'webhook_attempts/{attempts[-1]["id"]}/redeliver')
    check('created: redelivery has the same event_id and is dropped', receiver.wait(lambda e: e['event_id'] == created['event_id'], 'duplicates') is not None)
    check('created: dropped events are not events', sum(e['event_id'] == created['event_id'] for e in receiver.events) == 1)
    check('signature: a changed body does not fit', sign(good['verification_salt'], created['_']['stamp'], created['_']['body'] + b' ') != sign(good['verification_salt'], created['_']['stamp'], created['_']['body']))

    n = len(receiver.events)
    dep = control('POST', 'wholesalers', {'available_wholesaler': aw['id'], 'customer_number': '', 'customer_username': 'shared', 'customer_password': 'p1', 'department': 11})
    d = dep['id']
    e = after(n, 'wholesaler.created', wholesaler__id=d)
    check('created: one per credential set, own id', e is not None and d != w)
    types('created: department of a location', e['wholesaler']['department'] or {}, {'id': lambda v: v == 11, 'name': string})
    check('created: blank field is sent as null', e['wholesaler']['customer_number'] is None, e['wholesaler'])
    dep2 = control('POST', 'wholesalers', {'available_wholesaler': aw['id'], 'customer_number': 'C-3', 'customer_username': 'shared', 'customer_password': 'p1', 'department': 12})
    d2 = dep2['id']
    after(n, 'wholesaler.created', wholesaler__id=d2)
    n = len(receiver.events)
    control('PATCH', f'wholesalers/{d}', {'customer_password': 'p2'})
    e, f = after(n, 'wholesaler.updated', wholesaler__id=d), after(n, 'wholesaler.updated', wholesaler__id=d2)
    check('updated: one edit of a shared password updates both ids', bool(e and f) and e['wholesaler']['customer_password'] == f['wholesaler']['customer_password'] == 'p2', (e, f))
    check('updated: two event_ids', bool(e and f) and e['event_id'] != f['event_id'])
    if e:
        types('updated: same shape as created', e['wholesaler'], {k: (lambda v: True) for k in created['wholesaler']})
    n = len(receiver.events)
    control('PATCH', f'wholesalers/{w}', {'customer_number': 'C-1'})
    control('PATCH', f'wholesalers/{w}', {'customer_number': 'C-1b'})
    e = after(n, 'wholesaler.updated', wholesaler__id=w)
    check('updated: only real changes', e is not None and e['wholesaler']['customer_number'] == 'C-1b' and len(receiver.events) == n + 1, receiver.events[n:])

    # -- catalog: the upload address ----------------------------------------------------------------------------------------
    UP = f'{API}/wholesaler/{w}/catalog_upload_url/'
    for name in ('list.txt', 'a/b.csv', 'a\\b.csv', 'a..csv', '..csv', '   ', '', None):
        status, answer = call('POST', UP, {'filename': name} if name is not None else {}, T)
        check(f'upload url: filename {name!r} 400', status == 400, (status, answer))
    for kind, expected in (('text/plain', 400), ('text/csv; charset=utf-8', 400)):
        check(f'upload url: content_type {kind} {expected}', call('POST', UP, {'filename': 'a.csv', 'content_type': kind}, T)[0] == expected)
    status, answer = call('POST', UP, {'filename': 'a.csv'}, OTHER)
    check('upload url: another application 403 with the text', status == 403 and REFUSED in json.dumps(answer), (status, answer))
    email_type = next(x for x in control('GET', 'wholesalers') if x['type'] != 'Integration')
    check('upload url: missing wholesaler 404', call('POST', f'{API}/wholesaler/999999/catalog_upload_url/', {'filename': 'a.csv'}, T)[0] == 404)
    check('upload url: not of type Integration 404', call('POST', f'{API}/wholesaler/{email_type["id"]}/catalog_upload_url/', {'filename': 'a.csv'}, T)[0] == 404)
    status, answer = call('POST', UP, {'filename': 'lost.csv'}, T, X_Sandbox_Fault='catalogUrl503')
    check('upload url: 503 where it cannot be made', status == 503, (status, answer))
    status, form = call('POST', UP, {'filename': '  Catalog.CSV  '}, T)
    check('upload url: 200, and 503 kept no record (file name is the new one, trimmed)', status == 200 and form['filename'] == 'Catalog.CSV', (status, form))
    types('upload url: fields', form, {'upload_id': integer, 'catalog_id': lambda v: bool(UUID.match(v)), 'filename': string, 'object_key': string, 'url': string,
                                       'fields': lambda v: isinstance(v, dict) and all(isinstance(x, str) for x in v.values()),
                                       'expected_columns': lambda v: all(isinstance(x, str) for x in v), 'content_type': lambda v: v == 'text/csv', 'max_size_bytes': lambda v: v == 104857600})
    check('upload url: expected_columns has the shown columns', {'product_type', 'product_number', 'product_name', 'wholesale_price', 'product_price', 'vat'} <= set(form['expected_columns']), form['expected_columns'])
    lower = {k.lower() for k in form['fields']}
    check('upload url: form fields key, Content-Type, policy, signature, access key id', {'key', 'content-type'} <= lower and any('policy' in k for k in lower)
          and any('signature' in k for k in lower) and any('accesskeyid' in k.replace('-', '').replace('_', '') or 'credential' in k for k in lower), form['fields'].keys())
    check('upload url: key is object_key', form['fields'].get('key') == form['object_key'])
    again = call('POST', UP, {'filename': 'other.csv'}, T)[1]
    check('upload url: asked again, the same pending upload', (again['upload_id'], again['catalog_id']) == (form['upload_id'], form['catalog_id']), again)

    # -- catalog: refusals of the storage ------------------------------------------------------------------------------------
    head = 'product_type,product_number,product_name,wholesale_price,product_price,vat\n'
    first = ('\ufeff' + 'product_name,vat,product_type,product_number,product_price,wholesale_price\n  Amoxicillin ,25.50,Medicine,AB-100,,10.50\nGauze,,Supply,SU-1,4.20,\nDog food,14.00,Food,FO-1,30.00,20.00\n').encode()
    n = len(receiver.events)
    status, body = upload(form, b'')
    check('storage: empty file 400 EntityTooSmall', status == 400 and 'EntityTooSmall' in body, (status, body))
    status, body = upload(form, first, tweak={next(k for k in form['fields'] if k.lower() == 'content-type'): 'application/json'})
    check('storage: another content type 403 AccessDenied', status == 403 and 'AccessDenied' in body, (status, body))
    for k in form['fields']:
        status, body = upload(form, first, drop=k)
        check(f'storage: without the field {k} refused', status in (400, 403), (status, body))
    control('POST', 'snapshots', {'name': 'before-expiry'})
    control('POST', 'clock', {'advance': 'PT4M50S'})
    late = call('POST', UP, {'filename': 'x.csv'}, T)[1]
    control('POST', 'clock', {'advance': 'PT5M2S'})
    status, body = upload(late, first)
    check('storage: older than five minutes 403 AccessDenied, Policy expired', status == 403 and 'AccessDenied' in body and 'Policy expired' in body, (status, body))
    fresh = call('POST', UP, {'filename': 'x.csv'}, T)[1]
    check('storage: a failed attempt leaves the upload pending (same id)', fresh['upload_id'] == form['upload_id'], fresh)
    control('POST', 'snapshots/before-expiry/restore')
    check('storage: none of these made an event', len(receiver.events) == n, receiver.events[n:])

    # -- catalog: accepted ----------------------------------------------------------------------------------------------------
    def processed(content, pk=w, name='catalog.csv', kind=None):
        count = len(receiver.events)
        status, made = call('POST', f'{API}/wholesaler/{pk}/catalog_upload_url/', {'filename': name, **({'content_type': kind} if kind else {})}, T)
        if status != 200:
            raise RuntimeError((status, made))
        status, body = upload(made, content, kind)
        event = after(count, 'catalog.processed', upload__id=made['upload_id']) if status < 300 else None
        if event is None:
            raise RuntimeError(f'no catalog.processed: {status} {body}')
        return made, event
    made, event = processed(first)
    check('catalog: of the pending upload', made['upload_id'] == form['upload_id'])
    types('processed: top level', event, {'event': string, 'event_id': lambda v: bool(UUID.match(v)), 'available_wholesaler': lambda v: v == {'id': aw['id'], 'name': good['name']},
                                          'wholesaler': lambda v: v['id'] == w, 'upload': lambda v: True})
    U = {'id': integer, 'catalog_id': string, 'filename': string, 'status': string, 'rows_total': integer, 'rows_accepted': integer, 'rows_rejected': integer,
         'errors': opt(lambda v: isinstance(v, list)), 'errors_truncated': lambda v: isinstance(v, bool)}
    types('processed: upload has the fields, no optional ones when not truncated', event['upload'], U)
    up = event['upload']
    check('catalog accepted: any order of columns, BOM, either price, blanks', (up['status'], up['rows_total'], up['rows_accepted'], up['rows_rejected']) == ('accepted', 3, 3, 0), up)
    check('catalog accepted: catalog_id and filename of the form', (up['catalog_id'], up['filename']) == (made['catalog_id'], made['filename']), up)
    check('catalog accepted: errors is an empty array, not truncated', up['errors'] == [] and up['errors_truncated'] is False, up['errors'])
    offered = json.dumps(control('GET', f'wholesalers/{w}/products'))
    check('catalog accepted: staff are offered the products, trimmed', all(x in offered for x in ('AB-100', 'SU-1', 'FO-1')) and '"Amoxicillin"' in offered, offered)
    check('catalog: of that credential set only', 'AB-100' not in json.dumps(control('GET', f'wholesalers/{d}/products')))
    _, event = processed((head + 'Medicine,X-1,X,1.00,,\n').encode(), d, 'loc.csv', 'application/csv')
    check('catalog: application/csv accepted, event names that set', event['upload']['status'] == 'accepted' and event['wholesaler']['id'] == d, event)
    control('POST', f'wholesalers/{w}/import', {'types': ['Medicine', 'Supply', 'Food']})

    # -- catalog: partially accepted, rejected -----------------------------------------------------------------------------------
    made2, event = processed((head + 'Medicine,AB-100,Amoxicillin,10.50,,25.50\nMedicine,,No number,1.00,,\nSupply,SU-2,Comma,"1,50",,\nSupply,SU-3,Bandage,2.00,,\nSupply,SU-4,No price,,,\nSupply,SU-5,,2.00,,\n').encode())
    up = event['upload']
    check('catalog: a new upload has new ids', made2['upload_id'] != made['upload_id'] and made2['catalog_id'] != made['catalog_id'])
    check('catalog partial: counts', (up['status'], up['rows_total'], up['rows_accepted'], up['rows_rejected']) == ('partially_accepted', 6, 2, 4), up)
    check('catalog partial: every rejected row, by its line number', {r['row'] for r in up['errors']} == {3, 4, 6, 7}, up['errors'])
    for entry in up['errors'][:1]:
        types('catalog partial: error entry', entry, {'row': opt(integer), 'code': string, 'field': opt(string), 'detail': string})
    check('catalog partial: empty required value is missing_required_field', ('missing_required_field', 'product_number') in {(r['code'], r['field']) for r in up['errors'] if r['row'] == 3}, up['errors'])
    check('catalog partial: decimal comma fails in its column', any(r['row'] == 4 and r['field'] == 'wholesale_price' and r['code'] != 'missing_required_field' for r in up['errors']), up['errors'])
    offered = json.dumps(control('GET', f'wholesalers/{w}/products'))
    check('catalog partial: replaces the previous catalog at once', 'SU-3' in offered and 'AB-100' in offered and 'FO-1' not in offered and 'SU-2' not in offered, offered)
    for label, content in (('no usable row', head + 'Medicine,,x,1.00,,\n'), ('no data rows', head), ('a required column absent', 'product_type,product_number,wholesale_price\nMedicine,A,1\n'),
                           ('no price column', 'product_type,product_number,product_name\nMedicine,A,B\n'), ('not UTF-8', b'product_type,product_number,product_name,wholesale_price\nMedicine,A,\xe4\xff,1\n'),
                           ('no header row', '\n')):
        _, event = processed(content if isinstance(content, bytes) else content.encode())
        up = event['upload']
        whole = label != 'no usable row'
        check(f'catalog rejected: {label}', up['status'] == 'rejected' and up['rows_accepted'] == 0 and len(up['errors']) >= 1 and (not whole or label == 'not' or up['errors'][0]['row'] is None), up)
    check('catalog rejected: the previous catalog stays live', json.dumps(control('GET', f'wholesalers/{w}/products')) == offered)
    _, event = processed((head + ''.join(f'Medicine,,P{i},1.00,,\n' for i in range(100))).encode())
    check('catalog: 100 errors in full', event['upload']['errors_truncated'] is False and len(event['upload']['errors']) == 100 and 'error_summary' not in event['upload'] and 'error_report_url' not in event['upload'])
    _, event = processed((head + ''.join(f'Medicine,,P{i},1.00,,\n' for i in range(101)) + 'Medicine,Z,Z,1.00,,\n').encode())
    up = event['upload']
    check('catalog: 101 errors are truncated, errors null', up['errors'] is None and up['errors_truncated'] is True, up)
    check('catalog: error_summary has the exact counts per code', isinstance(up.get('error_summary'), list) and '101' in json.dumps(up['error_summary']) and 'missing_required_field' in json.dumps(up['error_summary']), up.get('error_summary'))
    status, _, report = raw('GET', up.get('error_report_url') or BASE + '/none')
    check('catalog: error_report_url downloads all rows', status == 200 and len(report.splitlines()) >= 101, (status, report[:200]))
    is_of_event = lambda attempt: attempt['status'] is not None and event['event_id'] in attempt['body']
    attempt = attempted('catalog.processed', lambda found: any(map(is_of_event, found)))[-1]
    control('POST', f'webhook_attempts/{attempt["id"]}/redeliver')
    dup = receiver.wait(lambda e: e['event'] == 'catalog.processed', 'duplicates')
    check('catalog: a repeat has the same event_id and catalog_id', dup is not None and dup['event_id'] == event['event_id'] and dup['upload']['catalog_id'] == up['catalog_id'], dup)
    control('POST', f'wholesalers/{w}/import', {'types': ['Medicine', 'Supply', 'Food']})
    processed(first)
    control('POST', f'wholesalers/{w}/import', {'types': ['Medicine', 'Supply', 'Food']})

    # -- an order ----------------------------------------------------------------------------------------------------------------
    order_lines = [{'product_number': 'AB-100', 'product_name': 'Amoxicillin', 'quantity': '2.000', 'unit': 'pkg', 'barcode': '6400000000017', 'notes': None}]
    n = len(receiver.events)
    draft = control('POST', 'orders', {'wholesaler': w, 'lines': order_lines, 'send': False})
    SET = f'{API}/order/{{}}/set_wholesaler_reference_number/'
    MARK = f'{API}/order/{{}}/mark_delivered/'
    status, answer = call('POST', SET.format(draft['id']), {'wholesaler_reference_number': 'R'}, T)
    check('reference: order still in Ordering in process 400', status == 400, (status, answer))
    status, answer = call('POST', MARK.format(draft['id']), None, T)
    check("delivered: order not in Ordered 400 with the text", status == 400 and "'Ordered' status" in json.dumps(answer), (status, answer))
    check('order: none is announced before it is sent', len(receiver.events) == n)
    control('POST', f'orders/{draft["id"]}/send', {})
    order = control('POST', 'orders', {'wholesaler': w, 'department': 11, 'notes': 'fragile', 'lines': order_lines})
    o = order['id']
    e = after(n, 'order.placed', order__id=o)
    check('order: order.placed arrives', e is not None)
    check('order: sending a draft places it too', after(n, 'order.placed', order__id=draft['id']) is not None)
    types('order: top level', e, {'event': string, 'event_id': lambda v: bool(UUID.match(v)), 'available_wholesaler': lambda v: v == {'id': aw['id'], 'name': good['name']}, 'wholesaler': lambda v: True, 'order': lambda v: True})
    types('order: wholesaler', e['wholesaler'], {'id': integer, 'customer_number': opt(string)})
    types('order: order', e['order'], {'id': integer, 'notes': lambda v: v == 'fragile', 'customer': lambda v: True, 'purchaser': lambda v: True, 'items': lambda v: len(v) == 1})
    types('order: customer', e['order']['customer'], {k: (lambda v: True) for k in ('name', 'department', 'postal_address', 'postal_code', 'city', 'country_code')})
    types('order: purchaser', e['order']['purchaser'], {k: (lambda v: True) for k in ('name', 'phone', 'email')})
    types('order: item', e['order']['items'][0], {'product_number': lambda v: v == 'AB-100', 'product_name': string, 'quantity': lambda v: isinstance(v, str) and float(v) == 2, 'unit': opt(string), 'barcode': opt(string), 'notes': opt(string)})
    print('     order for department 11 went to set', e['wholesaler'], 'sets are', w, d, d2)
    n = len(receiver.events)
    control('POST', f'orders/{o}/send', {'lines': [{**order_lines[0], 'quantity': '3.000'}]})
    e2 = after(n, 'order.placed', order__id=o)
    check('order: sent again with changes: a new event_id, the new payload', e2 is not None and e2['event_id'] != e['event_id'] and float(e2['order']['items'][0]['quantity']) == 3)
    mail = control('POST', 'orders', {'wholesaler': email_type['id'], 'lines': order_lines})

    # reference number
    S = SET.format(o)
    for value, expected in (('W-1', 200), ('x' * 63, 200), ('x' * 64, 400), ('INV-77', 200), ('INV-77', 200)):
        status, answer = call('POST', S, {'wholesaler_reference_number': value}, T)
        check(f'reference: {value[:6]} of {len(value)} characters {expected}', status == expected and (expected != 200 or answer == {'status': 'ok', 'wholesaler_reference_number': value}), (status, answer))
    check('reference: missing 400', call('POST', S, {}, T)[0] == 400)
    check('reference: last write wins, staff see it', 'INV-77' in json.dumps(control('GET', f'orders/{o}')))
    for label, pk, who in (('of another integration', o, OTHER), ('without an integration wholesaler', mail['id'], T)):
        status, answer = call('POST', SET.format(pk), {'wholesaler_reference_number': 'R'}, who)
        check(f'reference: order {label} 403 with the text', status == 403 and REFUSED in json.dumps(answer), (status, answer))
        status, answer = call('POST', MARK.format(pk), None, who)
        check(f'delivered: order {label} 403 with the text', status == 403 and REFUSED in json.dumps(answer), (status, answer))
    check('order: unknown id 404', call('POST', MARK.format(999999), None, T)[0] == 404)
    check('order: the scope opens no other order action', call('GET', f'{API}/order/{o}/', token=T)[0] in (403, 404) and call('GET', f'{API}/order/', token=T)[0] in (403, 404))

    # delivered: the answer is lost, the second call says what happened
    status, _ = call('POST', MARK.format(o), None, T, X_Sandbox_Fault='{"connectionReset": {"when": "after"}}')
    check('delivered: the answer is lost', status == 0, status)
    status, answer = call('POST', MARK.format(o), None, T)
    check("delivered: again 400 'Ordered' status: the earlier call landed", status == 400 and "'Ordered' status" in json.dumps(answer), (status, answer))
    seen = control('GET', f'orders/{o}')
    check('delivered: order_status 2', 2 in (seen.get('status'), seen.get('order_status')), seen)
    journal = control('GET', f'requests?path=/order/{o}/mark_delivered/&method=POST')['requests']
    check('delivered: journal has the lost answer and the 400', [r['status'] for r in journal][-1] == 400 and any('connectionReset' in r['faults'] for r in journal) , [(r['status'], r['faults']) for r in journal])
    status, answer = call('POST', MARK.format(draft['id']), None, T)
    check('delivered: 200', status == 200, (status, answer))
    types('delivered: fields', answer, {'status': lambda v: v == 'ok', 'order_status': lambda v: v == 2, 'all_delivered': lambda v: isinstance(v, bool), 'delivery_date': lambda v: bool(datetime.datetime.fromisoformat(v))})
    twin = control('POST', 'orders', {'wholesaler': w, 'lines': order_lines})
    results = []
    threads = [threading.Thread(target=lambda: results.append(call('POST', MARK.format(twin['id']), None, T)[0])) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    check('delivered: of four at once one gets 200, the others 400', sorted(results) == [200, 400, 400, 400], results)
    bad = control('POST', 'orders', {'wholesaler': w, 'lines': order_lines})
    status, _ = call('POST', MARK.format(bad['id']), None, T, X_Sandbox_Fault='http500')
    check('delivered: a 500 before it left the order Ordered', status == 500 and call('POST', MARK.format(bad['id']), None, T)[0] == 200)

    # -- receipts ----------------------------------------------------------------------------------------------------------------
    R = f'{API}/wholesaler/{w}/receipts/'
    send = lambda *lines, pk=w, who=T: call('POST', f'{API}/wholesaler/{pk}/receipts/', {'receipt_lines': list(lines)}, who)
    line = lambda i, **more: {'id': i, 'quantity': '2.000', 'product_number': 'AB-100', **more}
    status, answer = send(line('L-1', order_id=o, batch_number='B1', expiry_date='2028-01-31', invoice_number='INV-77', invoice_date='2026-11-01', product_name='Amoxicillin'))
    check('receipts: 200', status == 200, (status, answer))
    types('receipts: summary', answer, {'lines_total': lambda v: v == 1, 'lines_accepted': lambda v: v == 1, 'lines_rejected': lambda v: v == 0, 'lines_duplicate': lambda v: v == 0, 'receipt_lines': lambda v: len(v) == 1})
    types('receipts: line; no reason when accepted', answer['receipt_lines'][0], {'id': lambda v: v == 'L-1', 'status': lambda v: v == 'accepted', 'order_id': lambda v: v == o, 'matched_item': lambda v: v is True, 'matched_by': lambda v: v == 'product_code'})
    kept = answer['receipt_lines'][0]
    status, answer = send({'id': 'l-1', 'quantity': '99', 'product_number': 'NONE'})
    check('receipts: id compared without case: duplicate, stored outcome, 200', status == 200 and answer['lines_duplicate'] == 1 and {**answer['receipt_lines'][0], 'id': 'L-1'} == {**kept, 'status': 'duplicate'}, answer)
    stored = [r for r in control('GET', 'receipts') if 'L-1' in json.dumps(r) or 'l-1' in json.dumps(r)]
    check('receipts: a duplicate changes nothing', len(stored) == 1 and float(stored[0]['quantity']) == 2, stored)
    check('receipts: nothing goes into stock by itself', 'B1' not in json.dumps(control('GET', 'stock')))
    status, answer = send(line('D-1'), line('D-1', quantity='5'))
    check('receipts: the same id twice in one call: accepted, duplicate', [x['status'] for x in answer['receipt_lines']] == ['accepted', 'duplicate'], answer)
    rejected = [('no product_number and no barcode', {'id': 'X-1', 'quantity': '1'}), ('negative quantity', line('X-2', quantity='-1')), ('text quantity', line('X-3', quantity='many')),
                ('4 decimals', line('X-4', quantity='1.0001')), ('10 whole digits', line('X-5', quantity='1234567890')), ('no quantity', {'id': 'X-6', 'product_number': 'AB-100'}),
                ('invoice_date of no calendar', line('X-7', invoice_date='2026-02-30')), ('expiry_date text', line('X-8', expiry_date='soon')), ('not an object', 'text'), ('null', None), ('an array', []),
                ('id of 256', line('i' * 256)), ('product_number of 64', line('X-9', product_number='p' * 64)), ('barcode of 31', line('X-10', barcode='1' * 31)),
                ('product_name of 256', line('X-11', product_name='n' * 256)), ('invoice_number of 64', line('X-12', invoice_number='n' * 64)), ('batch_number of 64', line('X-13', batch_number='n' * 64)),
                ('no id', {'quantity': '1', 'product_number': 'AB-100'}), ('empty id', line('')), ('order_id text', line('X-14', order_id='abc'))]
    status, answer = send(*[x for _, x in rejected], line('X-ok'))
    check('receipts: rejected lines do not stop the others, 200', status == 200 and answer['lines_total'] == len(rejected) + 1 and answer['lines_rejected'] == len(rejected) and answer['lines_accepted'] == 1, {**answer, 'receipt_lines': [(x['id'] and x['id'][:9], x['status']) for x in answer['receipt_lines']]})
    for (label, _), got in zip(rejected, answer['receipt_lines']):
        check(f'receipts: {label}: rejected with a reason', got['status'] == 'rejected' and isinstance(got.get('reason'), str) and got['reason'], got)
    longest = line('z' * 255, product_number='p' * 63, barcode='1' * 30, product_name='n' * 255, invoice_number='n' * 63, batch_number='b' * 63, quantity='999999999.999')
    status, answer = send(longest, line('Z-0', quantity='0'), line('Z-t', expiry_date='2028-01-31T00:00:00Z', invoice_date='2026-11-01T10:00:00'), line('Z-n', product_number='NONE'), line('Z-f', order_id=mail['id']),
                          line('Z-u', order_id=999999), line('Z-i', invoice_number='INV-77'))
    lines = {x['id'][:3]: x for x in answer['receipt_lines']}
    check('receipts: the longest values and zero are accepted', lines['zzz']['status'] == lines['Z-0']['status'] == 'accepted', answer)
    check('receipts: date with a time is accepted, stored as absent', lines['Z-t']['status'] == 'accepted', lines['Z-t'])
    stored = [r for r in control('GET', 'receipts') if 'Z-t' in json.dumps(r)]
    check('receipts: … expiry_date and invoice_date are null', len(stored) == 1 and stored[0].get('expiry_date') is None and stored[0].get('invoice_date') is None, stored)
    check('receipts: unknown product: accepted, not matched', (lines['Z-n']['status'], lines['Z-n']['matched_item'], lines['Z-n']['matched_by']) == ('accepted', False, None), lines['Z-n'])
    check('receipts: order of nobody or not of the caller: unlinked, order_id null', lines['Z-f']['order_id'] is None and lines['Z-u']['order_id'] is None and lines['Z-f']['status'] == 'accepted', lines)
    check('receipts: without order_id linked by invoice_number (the reference number)', lines['Z-i']['order_id'] == o, lines['Z-i'])
    call('POST', SET.format(twin['id']), {'wholesaler_reference_number': 'INV-77'}, T)
    status, answer = send(line('A-1', invoice_number='INV-77'))
    check('receipts: invoice number of two orders: unlinked', answer['receipt_lines'][0]['order_id'] is None and answer['receipt_lines'][0]['status'] == 'accepted', answer)
    for label, body in (('malformed JSON', b'{"receipt_lines": ['), ('no receipt_lines', {}), ('empty', {'receipt_lines': []}), ('501 lines', {'receipt_lines': [line(f'M-{i}') for i in range(501)]}),
                        ('not an array', {'receipt_lines': 'x'}), ('null', {'receipt_lines': None}), ('an array body', [])):
        before = len(control('GET', 'receipts'))
        status, answer = call('POST', R, body, T)
        check(f'receipts: {label} 400, nothing stored', status == 400 and len(control('GET', 'receipts')) == before, (status, answer))
    status, answer = send(*[line(f'F-{i}') for i in range(500)])
    check('receipts: 500 lines 200', status == 200 and answer['lines_accepted'] == 500)
    status, answer = send(line('Q-1'), who=OTHER)
    check('receipts: wholesaler of another integration 403', status == 403, (status, answer))
    check('receipts: missing 404, not integration 404', send(line('Q'), pk=999999)[0] == 404 and send(line('Q'), pk=email_type['id'])[0] == 404)
    # another wholesaler may reuse ids
    status, second = call('POST', API + '/available_wholesaler/', {**good, 'name': 'Second'}, OTHER)
    w2 = control('POST', 'wholesalers', {'available_wholesaler': second['id'], 'customer_number': 'S'})['id']
    status, answer = send(line('L-1'), pk=w2, who=OTHER)
    check('receipts: another wholesaler may reuse an id; its products only', answer['receipt_lines'][0]['status'] == 'accepted' and answer['receipt_lines'][0]['matched_item'] is False, answer)
    check("receipts: another's order is not linked", send(line('L-2', order_id=o), pk=w2, who=OTHER)[1]['receipt_lines'][0]['order_id'] is None)
    control('PATCH', 'organisation', {'default_department': None})
    status, answer = send(line('DU-1'), line('DU-2', order_id=o))
    control('PATCH', 'organisation', {'default_department': 11})
    check('receipts: unlinked line without a default department: department_unresolved; linked one accepted', status == 200 and answer['receipt_lines'][0].get('reason') == 'department_unresolved' and answer['receipt_lines'][1]['status'] == 'accepted', answer)
    check('receipts: the department of the set posted to is enough', send(line('DU-3'), pk=d)[1]['receipt_lines'][0]['status'] == 'accepted')

    # an order for a location: its own customer number
    n = len(receiver.events)
    local = control('POST', 'orders', {'wholesaler': w, 'department': 12, 'lines': order_lines})
    e = after(n, 'order.placed', order__id=local['id'])
    check('order: customer_number is the location\'s own where it has one', e['wholesaler']['customer_number'] == 'C-3', e['wholesaler'])
    n = len(receiver.events)
    control('PATCH', f'wholesalers/{d2}', {'customer_username': 'own-name'})
    e = after(n, 'wholesaler.updated', wholesaler__id=d2)
    check('updated: a username of its own, one event', e is not None and e['wholesaler']['customer_username'] == 'own-name' and len(receiver.events) == n + 1, receiver.events[n:])
    big = call('POST', UP, {'filename': 'big.csv'}, T)[1]
    status, body = upload(big, b'x' * (104857600 + 1))
    check('storage: 100 MB and a byte 400 EntityTooLarge', status == 400 and 'EntityTooLarge' in body, (status, body[:200]))
    foreign = call('POST', f'{API}/wholesaler/{w2}/catalog_upload_url/', {'filename': 'f.csv'}, OTHER)[1]
    status, body = upload(foreign, first, tweak={'key': big['object_key']})
    check('storage: the key of another upload is refused', status == 403, (status, body))
    n = len(receiver.events)
    status, body = upload(big, first)
    check('storage: after these the upload is pending still', status < 300, (status, body))
    check('storage: its event', after(n, 'catalog.processed', upload__id=big['upload_id']) is not None)
    # discontinued: only items missing from the catalog, at the next import of their type
    processed((head + 'Medicine,AB-100,Amoxicillin,10.50,,\n').encode())
    before = json.dumps(control('GET', f'wholesalers/{w}/supplied'))
    control('POST', f'wholesalers/{w}/import', {'types': ['Food']})
    supplied = control('GET', f'wholesalers/{w}/supplied')
    flag = {i.get('name', i.get('product_name')): i.get('discontinued') for i in supplied}
    check('catalog rule: an import of Food discontinues the missing food, not the missing supply', flag.get('Dog food') is True and flag.get('Gauze') is False and flag.get('Amoxicillin') is False, supplied)
    processed(first)
    control('POST', f'wholesalers/{w}/import', {'types': ['Medicine', 'Supply', 'Food']})

    # barcode: a catalog with one
    column = next((c for c in form['expected_columns'] if 'barcode' in c.lower() or 'ean' in c.lower()), None)
    check('catalog: expected_columns names a barcode column', column is not None, form['expected_columns'])
    _, event = processed((head.strip() + f',{column}\nMedicine,BC-1,Barcoded,1.00,,,6400000000024\n').encode())
    control('POST', f'wholesalers/{w}/import', {'types': ['Medicine']})
    got = send({'id': 'BC', 'quantity': '1', 'barcode': '6400000000024'}, {'id': 'BC2', 'quantity': '1', 'barcode': '6400000000024', 'product_number': 'NONE'})[1]['receipt_lines']
    check('receipts: then matched by barcode', all(x['matched_item'] and x['matched_by'] not in (None, 'product_code') for x in got), got)

    # -- rate limit: a 429 has Retry-After ----------------------------------------------------------------------------------------
    status, headers, _ = raw('GET', AW, headers={'Authorization': f'Bearer {T}', 'X-Sandbox-Fault': 'spurious429'})
    check('errors: 429 with Retry-After in seconds', status == 429 and (headers.get('Retry-After') or '').isdigit(), (status, dict(headers)))

    # -- the salt, and the end ----------------------------------------------------------------------------------------------------
    n = len(receiver.events)
    receiver.salts = ['another-salt-of-32-characters-xx']
    status, answer = call('PATCH', AW, {'verification_salt': receiver.salts[0]}, T)
    check('salt: PATCH 200, not returned', status == 200 and 'verification_salt' not in answer, (status, answer))
    forged = len(receiver.forged)
    control('PATCH', f'wholesalers/{w}', {'customer_number': 'C-9'})
    e = after(n, 'wholesaler.updated', wholesaler__id=w)
    check('salt: the next delivery is signed with the new one alone', e is not None and len(receiver.forged) == forged, receiver.forged[forged:])
    check('salt: no delivery was ever wrongly signed', not receiver.forged, receiver.forged[:1])

    n = len(receiver.events)
    control('DELETE', f'wholesalers/{d}')
    e = after(n, 'wholesaler.deleted', wholesaler__id=d)
    check('deleted: event with the id alone', e is not None and e['wholesaler'] == {'id': d}, e)
    if e:
        types('deleted: available_wholesaler as before', e['available_wholesaler'], {k: (lambda v: True) for k in created['available_wholesaler']})
    check('deleted: upload url of an archived set 404', call('POST', f'{API}/wholesaler/{d}/catalog_upload_url/', {'filename': 'a.csv'}, T)[0] == 404)
    check('deleted: archived before foreign: 404 for another application too', call('POST', f'{API}/wholesaler/{d}/catalog_upload_url/', {'filename': 'a.csv'}, OTHER)[0] == 404)
    check('deleted: receipts to an archived set 404', send(line('Q-9'), pk=d)[0] == 404)
    n = len(receiver.events)
    anew = control('POST', 'wholesalers', {'available_wholesaler': aw['id'], 'customer_number': 'C-2', 'department': 11})
    check('deleted: after a reconnect created with a fresh id', anew['id'] not in (w, d, d2) and after(n, 'wholesaler.created', wholesaler__id=anew['id']) is not None, anew)
    status, answer = call('DELETE', AW, token=T)
    check('delete: 2xx', status in (200, 204), (status, answer))
    check('delete: gone (404)', call('GET', AW, token=T)[0] == 404)
    check('delete: and not in the list', aw['id'] not in [r['id'] for r in call('GET', API + '/available_wholesaler/?page_size=100', token=T)[1]['results']])
    ids = [e['event_id'] for e in receiver.events]
    check('events: every event_id is unique among the kept', len(ids) == len(set(ids)))


started = time.monotonic()
try:
    main()
except Exception:
    check('the program went to its end', False, traceback.format_exc())
finally:
    receiver.server.shutdown()
print(f'{checks} checks, {failed} failed')
sys.exit(1 if failed else 0)
