#!/usr/bin/env python3
"""Online booking and payment against the practice API, written from the guide and the specification alone. Usage: booking.py BASE_URL"""
import base64, http.client, http.server, json, re, sys, threading, traceback, uuid
from datetime import date, datetime, timedelta
from decimal import Decimal as D
from urllib.parse import quote, urlencode, urlsplit

BASE = sys.argv[1].rstrip('/')
INST = '4711'
host = urlsplit(BASE)
API = f'{BASE}/{INST}/api/0.1'
N = F = 0
TOKEN = [None]
conn = [None]


def ck(name, ok, detail=''):
    global N, F
    N += 1
    if not ok:
        F += 1
    print(('ok   ' if ok else 'FAIL ') + name + ('' if ok else f'  -- {str(detail)[:400]}'))
    return ok


class R:
    def __init__(s, st, h, b):
        s.st, s.h, s.b = st, h, b
        try:
            s.j = json.loads(b, parse_float=D) if b else None
        except ValueError:
            s.j = None

    def __repr__(s):
        return f'{s.st} {s.b[:300]!r}'

    def __getitem__(s, k):
        return s.j[k]

    def get(s, k, d=None):
        return s.j.get(k, d) if isinstance(s.j, dict) else d


def raw(m, path, body=None, headers=None):
    """One request over a kept-alive connection; raises OSError/HTTPException when the answer is lost."""
    for again in (0, 1):
        fresh = conn[0] is None
        if fresh:
            conn[0] = http.client.HTTPConnection(host.hostname, host.port, timeout=15)
        try:
            conn[0].request(m, path, body, headers or {})
            a = conn[0].getresponse()
            b = a.read()
            return R(a.status, {k.lower(): v for k, v in a.getheaders()}, b)
        except (OSError, http.client.HTTPException):
            conn[0].close()
            conn[0] = None
            if fresh or (headers and 'X-Sandbox-Fault' in headers) or m != 'GET':
                raise


def api(m, path, body=None, tok=None, fault=None, headers=None, **q):
    if q:
        path += '?' + urlencode(q)
    h = {'Authorization': f'Bearer {tok or TOKEN[0]}', **(headers or {})}
    if fault:
        h['X-Sandbox-Fault'] = json.dumps(fault) if not isinstance(fault, str) else fault
    data = None
    if body is not None:
        data = body if isinstance(body, (str, bytes)) else json.dumps(body, default=str)
        h.setdefault('Content-Type', 'application/json')
    if path.startswith('http'):
        path = path[len(BASE):]
    else:
        path = f'/{INST}/api/0.1{path}'
    return raw(m, path, data, h)


def get(p, **q): return api('GET', p, **q)
def post(p, b=None, **k): return api('POST', p, {} if b is None else b, **k)
def patch(p, b, **k): return api('PATCH', p, b, **k)


def ctl(m, p, b=None):
    r = raw(m, '/sandbox/' + p, None if b is None else json.dumps(b, default=str),
            {'Content-Type': 'application/json'} if b is not None else {})
    if r.st >= 400:
        raise RuntimeError(f'control {m} {p}: {r}')
    return r.j


def ref(res, i): return f'{API}/{res}/{i}/'
def idof(u): return int(re.search(r'/(\d+)/(?:\?.*)?$', u).group(1))
def isref(v, res): return isinstance(v, str) and re.fullmatch(re.escape(API) + f'/{res}/\\d+/', v) is not None


def ts(v):
    try:
        return datetime.fromisoformat(v.replace('Z', '+00:00'))
    except (ValueError, AttributeError):
        return None


def isdate(v): return isinstance(v, str) and re.fullmatch(r'\d{4}-\d\d-\d\d', v) is not None
def err(r, *fields): return r.st == 400 and isinstance(r.j, dict) and all(f in r.j for f in fields)
def isint(v): return isinstance(v, int) and not isinstance(v, bool)
def dec(v): return D(str(v))
def page(r): return r.st == 200 and set(r.j) >= {'count', 'num_pages', 'next', 'previous', 'results'}
def pick(r): return {x['id'] for x in r['results']}
def now(): return datetime.fromisoformat(ctl('GET', 'clock')['local'])
def one(res, i): return get(f'/{res}/', id__is=i)['results'][0]
def msgs(after=0): return ctl('GET', f'messages?after={after}')['messages']
def last_msg(): return max([m['id'] for m in msgs()] or [0])
def advance(d): ctl('POST', 'clock', {'advance': d})


def form(url, **kw):
    return raw('POST', url[len(BASE):], urlencode(kw), {'Content-Type': 'application/x-www-form-urlencoded'})


DEP = 11
S = {}


def login(cid='sandbox-client', sec='sandbox-secret', grant='client_credentials', in_body=False):
    h = {'Content-Type': 'application/x-www-form-urlencoded'}
    p = {'grant_type': grant}
    if in_body:
        p.update(client_id=cid, client_secret=sec)
    else:
        h['Authorization'] = 'Basic ' + base64.b64encode(f'{cid}:{sec}'.encode()).decode()
    return raw('POST', f'/{INST}/oauth2/token/', urlencode(p), h)


# ------------------------------------------------------------------ sections
def s_auth():
    r = login()
    ck('token by client credentials', r.st == 200 and r.get('access_token') and str(r.get('token_type')).lower() == 'bearer', r)
    ck('token tells its lifetime', isint(r.get('expires_in')) and r['expires_in'] > 0, r)
    TOKEN[0] = r['access_token']
    ck('token works', get('/client/', page_size=1).st == 200)
    r = login(in_body=True)
    ck('token by client_id and client_secret in the body (RFC 6749 2.3.1, optional)', r.st in (200, 401), r)
    S['body_auth'] = r.st
    ck('wrong secret is 401 invalid_client', (r := login(sec='no')).st == 401 and r.get('error') == 'invalid_client', r)
    ck('unknown grant is 400 unsupported_grant_type', (r := login(grant='password')).st == 400 and r.get('error') == 'unsupported_grant_type', r)
    r = raw('GET', f'/{INST}/api/0.1/client/', None, {})
    ck('no token is 401', r.st == 401, r)
    ck('401 names its scheme', 'bearer' in r.h.get('www-authenticate', '').lower(), r.h)
    ck('bad token is 401', get('/client/', tok='bad').st == 401)
    ck('wholesaler scope alone may not read clients (403)', get('/client/', tok='wholesaler-token').st == 403)
    ck('unauthorizedOnce, then the same token works', api('GET', '/client/', fault='unauthorizedOnce', page_size=1).st == 401 and get('/client/', page_size=1).st == 200)
    ctl('POST', 'applications', {'name': 'small', 'client_id': 'small', 'client_secret': 'small-secret', 'token': 'small-token', 'permissions': ['General: Patients and clients'], 'scopes': ['read write']})
    ck('permission group: allowed endpoint', get('/client/', tok='small-token', page_size=1).st == 200)
    ck('permission group: invoice list refused (403)', get('/invoice/', tok='small-token').st == 403)
    ck('permission group: account numbers need Financial: Invoices (403)', get('/accountnumber/', tok='small-token').st == 403)
    ck('permission group: alternative payers need Patients and clients (200)', get('/alternative_payer/', tok='small-token').st == 200)
    ck('permission group: alternative pricings need Settings: Items (403)', get('/alternativepricing/', tok='small-token').st == 403)
    ck('permission group: prescriptions refused (403)', post('/eprescription/prescription/', {}, tok='small-token').st == 403)


def s_conventions():
    r = get('/client/', page_size=100)
    ck('list envelope', page(r), r)
    ck('count and num_pages are integers and fit', isint(r['count']) and r['num_pages'] == -(-r['count'] // 100), (r['count'], r['num_pages']))
    ck('page_size is respected', len(r['results']) == 100)
    ck('first page: previous null, next absolute', r['previous'] is None and r['next'].startswith(API + '/client/?'), r['next'])
    r2 = get(r['next'])
    ck('next leads to page 2, previous back', page(r2) and r2['previous'] is not None and not pick(r) & pick(r2), r2)
    ck('page=2 is the same', pick(get('/client/', page_size=100, page=2)) == pick(r2))
    n = get('/client/', page_size=100, page=r['num_pages'])
    ck('last page has next null', n['next'] is None and len(n['results']) == r['count'] - 100 * (r['num_pages'] - 1))
    ck('page behind the last is refused', get('/client/', page_size=100, page=90).st in (400, 404))
    ck('page=0 and page=x are refused', get('/client/', page=0).st in (400, 404) and get('/client/', page='x').st in (400, 404))
    r = get('/client/', page_size=0)
    ck('page_size=0 is refused', err(r, 'page_size'), r)
    r = get('/invoice/', page_size=1001)
    ck('page_size above 1000 gives at most 1000 or an error', r.st == 400 or len(r['results']) <= 1000, r.st)
    S['dps'] = len(get('/client/')['results'])
    ck('default page size is a page', S['dps'] >= 1)
    r = get('/invoice/', page=150, page_size=100)
    ck('offset above 10,000 is refused with a hint at id__gt', r.st == 400 and 'id__gt' in str(r.j), r)
    r = get('/client/', page_size=1, headers={'Accept': 'text/html'})
    ck('text/html is offered too', r.st == 200 and 'text/html' in r.h['content-type'], r.h)
    r = post('/client/', 'nonsense')
    ck('malformed JSON is 400 with detail', err(r, 'detail'), r)
    r = post('/client/', [1])
    ck('JSON that is no object is 400', r.st == 400, r)
    ck('unknown id is 404, unknown path too', get('/client/99999999/').st == 404 and get('/nothing/').st == 404)
    ck('other installation is not served', raw('GET', '/9999/api/0.1/client/', None, {'Authorization': f'Bearer {TOKEN[0]}'}).st in (401, 403, 404))
    # forms are taken on account numbers
    h = {'Content-Type': 'application/x-www-form-urlencoded'}
    body = urlencode({'number': '3999', 'description': 'Booking', 'department': ref('department', DEP)})
    r = api('POST', '/accountnumber/', body, headers=h)
    ck('account number by form: 201', r.st == 201, r)
    r2 = api('POST', '/accountnumber/', body, headers=h)
    ck('account number is deduplicated', r2.get('id') == r.get('id') and r2.st in (200, 201), r2)
    b = 'x1y2'
    mp = ''.join(f'--{b}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in
                 {'number': '3999', 'description': 'Other', 'department': ref('department', DEP)}.items()) + f'--{b}--\r\n'
    r3 = api('POST', '/accountnumber/', mp, headers={'Content-Type': f'multipart/form-data; boundary={b}'})
    ck('account number by multipart, other description: another record', r3.st == 201 and r3['id'] != r['id'], r3)


def s_client():
    codes = get('/codelist/species/', page_size=100)
    ck('species code list: id, display_code, label', page(codes) and set(codes['results'][0]) >= {'id', 'display_code', 'label'})
    S['sp'] = {x['label']: x['id'] for x in codes['results']}
    S['br'] = get('/codelist/breeds/', page_size=100)['results']
    S['dx'] = get('/codelist/diagnoses/', page_size=100)['results']
    email = 'mia.bookman@book.example'
    find = lambda: get('/client/', email__is=email)
    ck('find client: none yet', find()['count'] == 0)
    r = post('/client/', {'firstname': 'Mia', 'lastname': 'Bookman', 'email': email, 'country': 'FI', 'customer_type': 0})
    ck('create client', r.st in (200, 201) and isref(r.get('url'), 'client') and r['url'].endswith(f"/{r['id']}/"), r)
    c = S['c'] = r['id']
    ck('client fields and types', all(isinstance(r[k], t) for k, t in dict(firstname=str, lastname=str, organization_name=str, email=str, country=str, customer_type=int, no_sms=bool, no_email=bool, archived=bool, fields_rel=list).items()) and ts(r['modified']), r)
    ck('client has no phone numbers and empty fields_rel', 'phone_number' not in r.j and r['fields_rel'] == [])
    ck('find client: by exact email', pick(find()) == {c})
    ck('email filter is exact', get('/client/', email__is='mia.bookman@book')['count'] == 0)
    ck('firstname__icontains is partial and case-insensitive', c in pick(get('/client/', firstname__icontains='MI', lastname__icontains='okma')))
    ck('filters combine with AND', get('/client/', firstname__icontains='Zzz', lastname__icontains='Bookman')['count'] == 0)
    ck('filter_type=or combines names with OR', pick(get('/client/', firstname__icontains='Zzz', lastname__icontains='Bookman', filter_type='or')) == {c})
    ck('filter_type=or leaves other filters AND', get('/client/', firstname__icontains='Zzz', lastname__icontains='Bookman', filter_type='or', archived__is='true')['count'] == 0)
    o = post('/client/', {'organization_name': 'Tails Oy', 'customer_type': 1, 'email': 'tails@book.example', 'country': 'SE'})
    ck('company client', o.st in (200, 201) and o['customer_type'] == 1 and o['country'] == 'SE', o)
    ck('organization_name partial match', o['id'] in pick(get('/client/', organization_name__icontains='TAILS')))
    ck('filter_type=or with organization_name', pick(get('/client/', organization_name__icontains='Tails O', lastname__icontains='Bookman', filter_type='or')) == {c, o['id']})
    r = post('/client/', {'firstname': 'X', 'customer_type': 9})
    ck('customer_type 9 is refused', err(r, 'customer_type'), r)
    r = post('/client/', {'firstname': 'X', 'country': 'Finland'})
    ck('country must be alpha-2', err(r, 'country'), r)
    ck('usability: an error message comes once', r.st != 400 or len(r['country']) == len(set(r['country'])), r)
    r = post('/client/', {'id': 1, 'url': 'x', 'modified': '2000-01-01T00:00:00Z', 'firstname': 'Ro', 'lastname': 'Only'})
    ck('read-only fields in a create are ignored or refused', r.st == 400 or (r['id'] != 1 and ts(r['modified']).year > 2000), r)
    before = get(f'/client/{c}/')
    r = patch(f'/client/{c}/', {'no_sms': True})
    ck('PATCH changes only what is sent', r.st == 200 and r['no_sms'] is True and r['email'] == email and r['lastname'] == 'Bookman', r)
    ck('PATCH moves modified', ts(r['modified']) >= ts(before['modified']))
    patch(f'/client/{c}/', {'no_sms': False})
    ck('PATCH of an unknown client is 404', patch('/client/99999999/', {'email': 'a@b.example'}).st == 404)
    r = patch(f"/client/{o['id']}/", {'archived': True})
    ck('archived=true is the soft delete', r.st == 200 and r['archived'] is True and get(f"/client/{o['id']}/").st == 200, r)
    ck('archived__is filters', o['id'] not in pick(get('/client/', archived__is='false', organization_name__icontains='tails')) and o['id'] in pick(get('/client/', archived__is='true', organization_name__icontains='tails')))
    ck('DELETE of a client is refused', api('DELETE', f'/client/{c}/').st == 405)
    # phone numbers
    r = post('/phonenumber/', {'client': ref('client', c), 'phone_number': '+358401234567', 'type_code': 1})
    ck('create phone number', r.st in (200, 201) and r['phone_number'] == '+358401234567' and r['type_code'] == 1 and r['client'] == ref('client', c), r)
    post('/phonenumber/', {'client': ref('client', c), 'phone_number': '+35891234567', 'type_code': 0})
    r = get('/phonenumber/', client__is=c)
    ck('phone numbers of a client', page(r) and r['count'] == 2 and all(x['client'] == ref('client', c) for x in r['results']), r)
    ck('client found by a part of the phone number', c in pick(get('/client/', phone_number__icontains='0123456')))
    ck('phone number without client refused', err(post('/phonenumber/', {'phone_number': '+358401'}), 'client'))
    ck('national phone number refused', err(r := post('/phonenumber/', {'client': ref('client', c), 'phone_number': '040 123'}), 'phone_number'), r)
    ck('phone type_code 2 refused', err(post('/phonenumber/', {'client': ref('client', c), 'phone_number': '+358401234568', 'type_code': 2}), 'type_code'))
    ck('bare id is no url-reference', err(post('/phonenumber/', {'client': c, 'phone_number': '+358401234568', 'type_code': 1}), 'client'))
    ck('reference to no record refused', err(post('/phonenumber/', {'client': ref('client', 99999999), 'phone_number': '+358401234568', 'type_code': 1}), 'client'))
    ck('reference of another resource refused', err(post('/phonenumber/', {'client': ref('patient', c), 'phone_number': '+358401234568', 'type_code': 1}), 'client'))


MORE = 'old_patient_id remarks date_of_registration insurance insurance_company color critical_notes additional_identification reason_of_death stable_name street_address street_address_2 zip_code city not_for_food passport_number register_number date_imported imported holding_place_number animal_code herd_size private visible_departments visible_department_groups microchip_date last_consultation picture patient_extras'.split()


def s_patient():
    c, cat = S['c'], S['sp']['Cat']
    breed = next(x for x in S['br'] if x['display_code'].startswith('CAT'))
    r = post('/patient/', {'client': ref('client', c), 'name': 'Nuppu', 'species': cat, 'breed': breed['id'], 'gender': 'Female', 'date_of_birth': '2022-05-01'})
    ck('create patient answers 200', r.st == 200, r)
    p = S['p'] = r['id']
    ck('patient url and client', isref(r['url'], 'patient') and r['client'] == ref('client', c))
    ck('species: written as code, read as name', r['species'] == 'Cat' and r['species_code'] == cat, r)
    ck('breed: written as code, read as name', r['breed'] == breed['label'] and r['breed_code'] == breed['id'], r)
    ck('gender Female is code 2', r['gender'] == 'Female' and r['gender_code'] == 2)
    ck('further patient fields are present', not [k for k in MORE if k not in r.j], [k for k in MORE if k not in r.j])
    ck('patient nulls and arrays', r['weight'] is None and r['deceased'] is None and r['microchip'] is None and r['tags_rel'] == [] and r['fields_rel'] == [] and r['date_of_birth'] == '2022-05-01')
    ck('patient timestamps', ts(r['created']) and ts(r['modified']))
    r = post('/patient/', {'client': ref('client', c), 'name': 'Masa', 'species': cat, 'gender': 1})
    S['p2'] = r['id']
    ck('gender by integer, breed null', r.st == 200 and isinstance(r['gender'], str) and r['gender_code'] == 1 and r['breed'] is None and r['breed_code'] is None, r)
    r = post('/patient/', {})
    ck('patient needs client, name, species', err(r, 'client', 'name'), r)
    ck('unknown species refused', err(post('/patient/', {'client': ref('client', c), 'name': 'X', 'species': 1}), 'species'))
    ck('unknown gender refused', err(post('/patient/', {'client': ref('client', c), 'name': 'X', 'species': cat, 'gender': 'Robot'}), 'gender'))
    ck('bad date refused', err(post('/patient/', {'client': ref('client', c), 'name': 'X', 'species': cat, 'date_of_birth': '2023-02-30'}), 'date_of_birth'))
    r = patch(f'/patient/{p}/', {'microchip': '246098100000777', 'weight': '4.2'})
    ck('PATCH microchip and weight (decimal string)', r.st == 200 and isinstance(r['weight'], str) and dec(r['weight']) == D('4.2') and r['name'] == 'Nuppu', r)
    ck('microchip__is is exact', pick(get('/patient/', microchip__is='246098100000777')) == {p} and get('/patient/', microchip__is='24609810000077')['count'] == 0)
    r = patch(f'/patient/{p}/', {'deceased': '2026-10-01'})
    ck('deceased by date', r['deceased'] == '2026-10-01')
    ck('deceased__is_null=true leaves it out', p not in pick(get('/patient/', client__is=c, deceased__is_null='true')) and p in pick(get('/patient/', client__is=c, deceased__is_null='false')))
    r = patch(f'/patient/{p}/', {'deceased': None})
    ck('null reactivates', r.st == 200 and r['deceased'] is None and p in pick(get('/patient/', client__is=c, archived__is='false', deceased__is_null='true')))
    ck('name__icontains', p in pick(get('/patient/', name__icontains='UPP', client__is=c)))
    r = get('/patient/', species__is=cat, client__is=c)
    ck('species filter by code', pick(r) == {p, S['p2']} and get('/patient/', species__is=S['sp']['Dog'], client__is=c)['count'] == 0)
    ck('date_of_birth__gte', pick(get('/patient/', client__is=c, date_of_birth__gte='2022-05-01')) == {p} and get('/patient/', client__is=c, date_of_birth__gte='2022-05-02')['count'] == 0)
    ck('has_living_patient filter', c in pick(get('/client/', email__is='mia.bookman@book.example', has_living_patient__is='true')))
    # bulk
    good = lambda n: {'client': ref('client', c), 'name': n, 'species': cat}
    bad = {'client': ref('client', c), 'species': cat}
    r = post('/patient/bulk/', [good('B1'), good('B2')])
    ck('bulk, all good: 201', r.st == 201 and get('/patient/', client__is=c)['count'] == 4, r)
    r = post('/patient/bulk/', [good('B3'), bad])
    ck('bulk, one bad, no force_push: none created', r.st == 400 and get('/patient/', client__is=c, name__icontains='B3')['count'] == 0, r)
    r = api('POST', '/patient/bulk/?force_push=true', [good('B4'), bad])
    ck('bulk, one bad, force_push: 207 and the good one created', r.st == 207 and get('/patient/', client__is=c, name__icontains='B4')['count'] == 1, r)
    ck('207 tells which failed', 'name' in json.dumps(r['failed']) and r['failed'][0]['index'] == 1, r)
    r = api('POST', '/patient/bulk/?force_push=true', [bad, bad])
    ck('bulk, all bad, force_push: 400', r.st == 400, r)
    ck('bulk wants an array', post('/patient/bulk/', good('B9')).st == 400)
    r = patch(f"/patient/{S['p2']}/", {'archived': True})
    ck('patient archived__is', r['archived'] is True and S['p2'] not in pick(get('/patient/', client__is=c, archived__is='false')))
    patch(f"/patient/{S['p2']}/", {'archived': False})
    ck('DELETE of a patient is refused', api('DELETE', f'/patient/{p}/').st == 405)


def s_fields():
    c, p = S['c'], S['p']
    r = get('/custom_fields/', page_size=100)
    d = {(x['model'], x['data_type']): x for x in r['results']}
    ck('definitions: client and patient, id and label', r.st == 200 and {m for m, _ in d} == {'client', 'patient'} and all(isint(x['id']) and x['label'] for x in r['results']))
    t, s, m = d['client', 'text'], d['client', 'select'], d['patient', 'multi_select']
    r = post(f'/client/{c}/custom_field_values/', {'field_id': t['id'], 'value': 'L1'})
    ck('write a value', r.st in (200, 201) and r['field_id'] == t['id'] and r['value'] == 'L1', r)
    r2 = post(f'/client/{c}/custom_field_values/', {'field_id': t['id'], 'value': 'L2'})
    ck('write again updates the same value record', r2.st in (200, 201) and r2['id'] == r['id'] and r2['value'] == 'L2', r2)
    r = post(f'/client/{c}/custom_field_values/', {'field_id': s['id'], 'value': [s['options'][0]]})
    ck('select takes option objects', r.st in (200, 201) and r['value'][0]['id'] == s['options'][0]['id'], r)
    ck('select refuses an unknown option', err(post(f'/client/{c}/custom_field_values/', {'field_id': s['id'], 'value': [{'id': 99, 'name': 'No'}]})))
    r = get(f'/client/{c}/')['fields_rel']
    ck('fields_rel: id, definition id, name, value', len(r) == 2 and all({'id', 'field_id', 'name', 'value'} <= set(x) for x in r) and {x['name'] for x in r} == {t['label'], s['label']}, r)
    ck('custom_field_values lists the same', len(get(f'/client/{c}/custom_field_values/')['results']) == 2)
    ck("a patient's field on a client is refused", err(post(f'/client/{c}/custom_field_values/', {'field_id': m['id'], 'value': 'x'}), 'field_id'))
    r = patch(f'/patient/{p}/', {'fields_rel': [{'field_id': m['id'], 'value': m['options'][:2]}]})
    ck('fields_rel by PATCH, multi-select', r.st == 200 and [o['id'] for o in r['fields_rel'][0]['value']] == [o['id'] for o in m['options'][:2]], r)
    r = post(f'/patient/{p}/custom_field_values/', {'field_id': d['patient', 'number']['id'], 'value': '31.5'})
    ck('patient value by its own endpoint', r.st in (200, 201) and len(get(f'/patient/{p}/custom_field_values/')['results']) == 2, r)
    r = post('/client/', {'firstname': 'Fie', 'lastname': 'Fields', 'fields_rel': [{'field_id': t['id'], 'value': 'L9'}]})
    ck('fields_rel on client create', r.st in (200, 201) and r['fields_rel'][0]['value'] == 'L9', r)
    ck('number field refuses text', err(post(f'/patient/{p}/custom_field_values/', {'field_id': d['patient', 'number']['id'], 'value': 'tall'})))


def s_booking():
    c, p = S['c'], S['p']
    t0 = (now() + timedelta(days=3)).replace(hour=10, minute=0, second=0, microsecond=0)
    base = {'start': t0.isoformat(), 'end': (t0 + timedelta(minutes=30)).isoformat(), 'department': ref('department', DEP), 'reason': ref('reason', 1), 'user': ref('user', 1), 'title': 'Booking', 'complaint': 'coughs', 'notes': 'web'}
    r = post('/appointment/', {**base, 'type': 2, 'client': ref('client', c), 'patients': [ref('patient', p)]})
    ck('online booking: appointment with request_hash', r.st in (200, 201) and isinstance(r.get('request_hash'), str) and r['request_hash'], r)
    ck('appointment keeps its fields', r['title'] == 'Booking' and r['complaint'] == 'coughs' and r['notes'] == 'web' and r['client'] == ref('client', c) and r['patients'] == [ref('patient', p)] and ts(r['start']) == t0, r)
    a, hsh = r['id'], r['request_hash']
    S['a'], S['t0'] = a, t0
    r = post('/appointment/', {**base, 'type': 'Online booking'})
    ck('type by name equals type by code', r.st in (200, 201) and r['type'] == one('appointment', a)['type'], r)
    ck('type 10 refused', err(post('/appointment/', {**base, 'type': 10}), 'type'))
    ck('end before start refused', err(post('/appointment/', {**base, 'type': 1, 'end': base['start']})))
    ck('bad timestamp refused', err(post('/appointment/', {**base, 'type': 1, 'start': 'tomorrow'}), 'start'))
    conf = lambda aid, h, q='': post(f'/appointment/{aid}/send_appointment_confirmation/{q}', {'request_hash': h})
    m0 = last_msg()
    ck('confirmation before the online client is connected is refused', (r := conf(a, hsh)).st == 400, r)
    r = post('/onlinebookingclient/', {'appointment': ref('appointment', a), 'first_name': 'Mia', 'last_name': 'Bookman', 'email': 'mia.bookman@book.example', 'phone_number': '+358401234567', 'street_address': 'Road 1', 'zip_code': '00100', 'city': 'Helsinki'})
    ck('onlinebookingclient', r.st in (200, 201) and isint(r['id']) and r['appointment'] == ref('appointment', a), r)
    oc = r['id']
    ck('confirmation without the online patient is refused', (r := conf(a, hsh)).st == 400, r)
    r = post('/onlinebookingpatient/', {'onlinebookingclient': ref('onlinebookingclient', oc), 'name': 'Nuppu', 'species': S['sp']['Cat'], 'breed': S['br'][0]['id'], 'notes': 'shy'})
    ck('onlinebookingpatient', r.st in (200, 201) and r['onlinebookingclient'] == ref('onlinebookingclient', oc) and r['species'] == S['sp']['Cat'], r)
    ck('online patient of unknown species refused', err(post('/onlinebookingpatient/', {'onlinebookingclient': ref('onlinebookingclient', oc), 'name': 'N', 'species': 1}), 'species'))
    ck('wrong request_hash refused', conf(a, 'wrong').st in (400, 403))
    ck('request_hash is required', err(post(f'/appointment/{a}/send_appointment_confirmation/', {}), 'request_hash'))
    ck('nothing was sent by refused confirmations', not msgs(m0))
    r = conf(a, hsh)
    sent = {m['channel'] for m in msgs(m0)}
    ck('confirmation goes out by email and sms', r.st == 200 and sent == {'email', 'sms'}, (r, sent))
    m0 = last_msg(); r = conf(a, hsh, '?dont_send_email_confirmation')
    ck('dont_send_email_confirmation: sms only', r.st == 200 and {m['channel'] for m in msgs(m0)} == {'sms'}, (r, msgs(m0)))
    m0 = last_msg(); r = conf(a, hsh, '?dont_send_sms_confirmation=true')
    ck('dont_send_sms_confirmation: email only', r.st == 200 and {m['channel'] for m in msgs(m0)} == {'email'}, (r, msgs(m0)))
    patch(f'/client/{c}/', {'no_sms': True})
    m0 = last_msg(); r = conf(a, hsh)
    ck('no_sms of the client: no sms', r.st == 200 and {m['channel'] for m in msgs(m0)} == {'email'}, (r, msgs(m0)))
    patch(f'/client/{c}/', {'no_sms': False})
    # reminder
    when = t0 - timedelta(days=1)
    r = post('/appointment_reminder/', {'appointment': ref('appointment', a), 'remind_at': when.isoformat(), 'delivery_method': 1})
    ck('reminder planned', r.st in (200, 201) and isint(r.get('id')), r)
    rem = r['id']
    ck('reminder after the start refused', post('/appointment_reminder/', {'appointment': ref('appointment', a), 'remind_at': (t0 + timedelta(hours=1)).isoformat(), 'delivery_method': 1}).st == 400)
    ctl('POST', 'snapshots', {'name': 'rem'})
    m0 = last_msg(); advance(f'PT{int((when - now()).total_seconds() // 3600) + 2}H')
    old = TOKEN[0]; TOKEN[0] = login()['access_token']
    r = get(f'/appointment_reminder/{rem}/')
    ck('reminder is sent when its time comes', r.st == 200 and r['delivery_status'] == 2 and ts(r['sent']) and len(msgs(m0)) == 2, (r, msgs(m0)))
    ctl('POST', 'snapshots/rem/restore')
    ck('README: a token that was valid at the snapshot is valid after its restore', get('/client/', page_size=1, tok=old).st == 200)
    TOKEN[0] = login()['access_token']


CF = 'url client patients started finished complaint type status admitted_time first_entry ended invoice supervising_veterinarian department consultation_items reporting_dimension_1 reporting_dimension_2'.split()


def consult(extra=None, patients=None):
    return post('/consultation/', {'client': ref('client', S['c']), 'patients': [ref('patient', x) for x in patients or [S['p']]], 'started': now().isoformat(), 'finished': None, 'complaint': 'cough', 'type': 1, **(extra or {})})


def add(cid, kind, item, q='1', vat=None, query='', patients=None, **more):
    return post(f'/consultation/{cid}/{kind}/{query}', {'consultation': ref('consultation', cid), 'patients': [ref('patient', x) for x in patients or [S['p']]], 'item': item['url'], 'quantity': q, 'vat_percentage': vat or item['vat_percentage'], **more})


def s_consultation():
    p = S['p']
    items = get('/item/', page_size=100)['results']
    S['items'] = items
    by = {}
    for i in items:
        if dec(i['price_with_vat']) > 0:
            by.setdefault(i['type_code'], i)
    ck('item list: url is the generic /item/<id>/', all(isref(i['url'], 'item') for i in items))
    patch(f'/patient/{p}/', {'home_department': ref('department', 12)})
    r = consult({'status': 10})
    ck('create consultation; status cannot be set', r.st in (200, 201) and r['status'] == 0, r)
    ck('consultation fields', not [k for k in CF if k not in r.j], [k for k in CF if k not in r.j])
    ck("department comes from the patient's home department", r['department'] == ref('department', 12), r['department'])
    ck('supervising veterinarian defaults to a user', isref(r['supervising_veterinarian'], 'user'))
    ck('new consultation: no invoice, no items', r['invoice'] is None and r['consultation_items'] == [])
    cid = idof(r['url'])
    r = consult({'department': ref('department', DEP), 'supervising_veterinarian': ref('user', 1)})
    ck('department and veterinarian as sent', r['department'] == ref('department', DEP) and r['supervising_veterinarian'] == ref('user', 1))
    cid = idof(r['url'])
    ck('consultation without patients refused', err(post('/consultation/', {'client': ref('client', S['c'])}), 'patients'))
    ck('consultation type 6 refused', err(consult({'type': 6}), 'type'))
    for kind, code in (('procedures', 1), ('medicines', 2), ('supplies', 3), ('foods', 4)):
        more = {'usage_type': 2, 'usage_size': 1} if kind in ('medicines', 'supplies') else {}
        if kind == 'medicines':
            more['instructions'] = 'twice a day'
        r = add(cid, kind, by[code], '2', **more)
        ck(f'add {kind}', r.st in (200, 201) and dec(r['quantity']) == 2 and r['item'] == by[code]['url'] and all(r[k] == v for k, v in more.items()), r)
        l = get(f'/consultation/{cid}/{kind}/')
        ck(f'list {kind}', l.st == 200 and r['id'] in {x['id'] for x in (l['results'] if isinstance(l.j, dict) else l.j)}, l)
    ck('usage_type 5 refused', err(add(cid, 'medicines', by[2], usage_type=5), 'usage_type'))
    ck('usage_size 3 refused', err(add(cid, 'supplies', by[3], usage_size=3), 'usage_size'))
    ck('type-specific item url refused', err(post(f'/consultation/{cid}/medicines/', {'consultation': ref('consultation', cid), 'patients': [ref('patient', p)], 'item': ref('medicine', idof(by[2]['url'])), 'quantity': '1', 'vat_percentage': '14'}), 'item'))
    r = post(f'/consultation/{cid}/procedures/', {})
    ck('common item fields are required', err(r, 'consultation', 'patients', 'item', 'quantity', 'vat_percentage'), r)
    r = get('/consultationitem/', type_code=2, page_size=20)
    ck('flat list filtered by type_code', page(r) and r['results'] and {x['type_code'] for x in r['results']} == {2}, r)
    ck('flat list is read-only', post('/consultationitem/', {}).st == 405)
    ck('consultation names its items', len(get(f'/consultation/{cid}/')['consultation_items']) == 4)
    dx = S['dx'][0]
    d = {'consultation': ref('consultation', cid), 'patient': ref('patient', p), 'diagnosis': dx['id'], 'code': dx['display_code'], 'name': dx['label'], 'category': 0, 'type': 1}
    r = post(f'/consultation/{cid}/consultationdiagnosis/', d)
    ck('diagnosis', r.st in (200, 201) and r['diagnosis'] == dx['id'] and r['code'] == dx['display_code'] and r['name'] == dx['label'] and r['type'] == 1, r)
    r = post(f'/consultation/{cid}/consultationdiagnosis/', {k: v for k, v in d.items() if k not in ('code', 'name')})
    ck('diagnosis: code and name must be sent', err(r, 'code', 'name'), r)
    r = post(f'/consultation/{cid}/consultationdiagnosis/', {**d, 'diagnosis': ref('listitem', 7), 'code': 'OWN', 'name': 'Own'})
    ck("diagnosis by /listitem/ of the clinic's own", r.st in (200, 201) and r['name'] == 'Own', r)
    ck('diagnosis category 2 refused', err(post(f'/consultation/{cid}/consultationdiagnosis/', {**d, 'category': 2}), 'category'))
    r = post(f'/consultation/{cid}/consultationnote/', {'patient': ref('patient', p), 'text': 'Fine', 'type': 1})
    ck('note', r.st in (200, 201) and r['text'] == 'Fine' and r['type'] == 1, r)
    ck('note type 3 refused', err(post(f'/consultation/{cid}/consultationnote/', {'patient': ref('patient', p), 'text': 'x', 'type': 3}), 'type'))
    r = post(f'/consultation/{cid}/consultationdischargeinstruction/', {'patient': ref('patient', p), 'text': 'Rest'})
    ck('discharge instruction', r.st in (200, 201) and r['text'] == 'Rest' and r['patient'] == ref('patient', p), r)
    up = lambda i, s: post(f'/consultation/{i}/update_status/', {'status': s})
    ck('0 to 10 is no transition', err(up(cid, 10), 'status'))
    ck('status 3 is no status', err(up(cid, 3), 'status'))
    r = up(cid, 8)
    ck('0 to 8', r.st == 200 and r['status'] == 8)
    ck('status__is and client__is', cid in pick(get('/consultation/', status__is=8, client__is=S['c'])) and cid not in pick(get('/consultation/', status__is=0, client__is=S['c'])))
    r = up(cid, 10)
    ck('8 to 10 makes the invoice', r.st == 200 and r['status'] == 10 and isref(r['invoice'], 'invoice'), r)
    S['inv'] = idof(r['invoice']); S['cid'] = cid
    ck('patients__is, department__is, veterinarian filters', pick(get('/consultation/', patients__is=p, department__is=DEP, supervising_veterinarian__is=1)) == {cid})
    st = get(f'/consultation/{cid}/')['started']
    ck('started__gte and __lte', cid in pick(get('/consultation/', client__is=S['c'], started__gte=st, started__lte=st)))
    inv = one('invoice', S['inv'])
    want = sum(2 * dec(by[k]['price_with_vat']) for k in (1, 2, 3, 4))
    ck('invoice of the consultation: client, total, number', inv['client'] == ref('client', S['c']) and dec(inv['total_with_vat']) == want and inv['status'] == 3, (inv['total_with_vat'], want))
    # 5 -> 10, herd multiplier
    r = consult({'department': ref('department', DEP)}); c2 = idof(r['url']); add(c2, 'procedures', by[1]); up(c2, 8)
    ctl('POST', f'consultations/{c2}/ready', {})
    ck('staff make it ready: 5', get(f'/consultation/{c2}/')['status'] == 5)
    r = up(c2, 10)
    ck('5 to 10 makes the invoice', r.st == 200 and r['status'] == 10 and r['invoice'], r)
    S['inv2'] = idof(r['invoice'])
    herd = post('/patient/', {'client': ref('client', S['c']), 'name': 'Herd', 'species': S['sp']['Cattle'], 'herd_size': 7})['id']
    c3 = idof(consult({'type': 3}, [herd])['url'])
    a = add(c3, 'procedures', by[1], '2', patients=[herd]); b = add(c3, 'procedures', by[1], '2', query='?no_multiplier=true', patients=[herd])
    ck('farm visit multiplies by the herd', a.st in (200, 201) and dec(a['quantity']) == 14, a)
    ck('no_multiplier=true stops it', b.st in (200, 201) and dec(b['quantity']) == 2, b)
    # communication preferences
    ctl('PATCH', f'departments/{DEP}', {'enable_communication_preferences': True})
    nc = post('/client/', {'firstname': 'No', 'lastname': 'Prefs'})
    npat = post('/patient/', {'client': nc['url'], 'name': 'Q', 'species': S['sp']['Cat']})
    body = {'client': nc['url'], 'patients': [npat['url']], 'started': now().isoformat(), 'type': 1, 'department': ref('department', DEP)}
    r = post('/consultation/', body)
    ck('no valid preferences: error keyed by client', err(r, 'client') and 'communication preferences' in str(r['client']).lower(), r)
    patch(f"/client/{nc['id']}/", {'no_sms': False, 'no_email': True})
    ck('after they are written it can be created', (r := post('/consultation/', body)).st in (200, 201), r)
    ctl('PATCH', f'departments/{DEP}', {'enable_communication_preferences': False})


def pay(inv, amount, when=None, typ=0, **k):
    return post('/invoicepayment/', {'invoice': ref('invoice', inv), 'payment_type': typ, 'paid': str(amount), 'date_added': when or now().isoformat()}, **k)


def s_invoice():
    inv = one('invoice', S['inv'])
    c = S['c']
    ck('invoice fields', all(k in inv for k in 'id status invoice_number invoice_prefix invoice_date invoice_due_date created modified date_paid credit_note countersale payer_vat_number'.split()))
    ck('invoice types', isint(inv['invoice_number']) and inv['invoice_prefix'] and isdate(inv['invoice_date']) and isdate(inv['invoice_due_date']) and inv['credit_note'] is False and inv['countersale'] is False and inv['date_paid'] is None, inv)
    fx = ctl('POST', 'fixtures', {'invoices': [{'ref': 'draft', 'client': c, 'status': 0, 'rows': [{'total_with_vat': '10.00'}]},
                                             {'ref': 'void', 'client': c, 'rows': [{'total_with_vat': '11.00'}]},
                                             {'ref': 'two', 'client': c, 'department': DEP, 'invoice_date': (now() - timedelta(days=8)).date().isoformat(), 'rows': [{'total_with_vat': '80.00'}, {'name': 'Other', 'total_with_vat': '40.00', 'vat_percentage': '14.00'}]}]})['invoices']
    S['two'] = fx['two']['id']
    draft, void = fx['draft']['id'], fx['void']['id']
    ctl('PATCH', f'invoices/{void}', {'status': 99})
    dr = one('invoice', draft)
    ck('draft: id, no number', dr['status'] == 0 and dr['invoice_number'] is None, dr)
    ck('status__is', pick(get('/invoice/', client__is=c, status__is=0)) == {draft} and pick(get('/invoice/', client__is=c, status__is=99)) == {void})
    d2 = (now() - timedelta(days=8)).date().isoformat()
    ck('invoice_date__gte and __lte', S['two'] in pick(get('/invoice/', client__is=c, invoice_date__gte=d2, invoice_date__lte=d2)) and S['inv'] not in pick(get('/invoice/', client__is=c, invoice_date__lte=d2)))
    ck('department__is', all(x['department'] == ref('department', 12) for x in get('/invoice/', department__is=12, page_size=20)['results']))
    ck('countersale__is', all(x['countersale'] for x in get('/invoice/', countersale__is='true', page_size=20)['results']))
    ck('credit_note__is', all(x['credit_note'] for x in get('/invoice/', credit_note__is='true', page_size=20)['results']))
    ck('API cannot create invoices', post('/invoice/', {}).st == 405)
    r = patch(f"/invoice/{S['inv']}/", {'invoice_due_date': '2027-03-01'})
    ck('invoice_due_date is writable', r.st == 200 and r['invoice_due_date'] == '2027-03-01', r)
    r = patch(f'/invoice/{draft}/', {'invoice_date': now().date().isoformat(), 'invoice_number': 5})
    ck('invoice_date of a draft is writable, the number is not', r.st == 400 or (r['invoice_number'] is None and r['invoice_date'] == now().date().isoformat()), r)
    old = inv['invoice_date']
    r = patch(f"/invoice/{S['inv']}/", {'invoice_date': '2026-01-01'})
    ck('invoice_date of a final invoice does not change', one('invoice', S['inv'])['invoice_date'] == old, r)
    # snapshot of payer
    nm = inv['payer_name'] if 'payer_name' in inv else None
    patch(f'/client/{c}/', {'lastname': 'Changed'})
    ck('payer snapshot does not follow the client', one('invoice', S['inv'])['payer_name'] == nm)
    patch(f'/client/{c}/', {'lastname': 'Bookman'})
    rows = get('/invoicerow/', invoice__is=S['two'])
    ck('rows of an invoice', page(rows) and rows['count'] == 2 and all(x['invoice'] == ref('invoice', S['two']) and isinstance(x['account_number'], str) for x in rows['results']), rows)
    x = rows['results'][0]
    ck('row: dimensions and invoice_row_extra always present', all(f'reporting_dimension_{i}' in x for i in (1, 2, 3)) and isinstance(x['invoice_row_extra'], dict))
    ck('row: no VAT group without the flag', 'invoicerow_vat_group' not in x)
    x = get(f"/invoicerow/?invoice__is={S['two']}&expose_invoicerow_vat_group")['results'][0]
    ck('row: VAT group with the bare flag', isinstance(x.get('invoicerow_vat_group'), dict) and len(x['invoicerow_vat_group']) >= 3, x)
    # payments
    ck('payment on a draft refused', err(pay(draft, 1)))
    ck('payment on a voided invoice refused', err(pay(void, 1)))
    ck('payment_type 8 rejected', err(pay(S['inv'], 1, typ=8), 'payment_type'))
    ck('payment_type 13 rejected', err(pay(S['inv'], 1, typ=13), 'payment_type'))
    r = post('/invoicepayment/', {})
    ck('payment needs an invoice', err(r, 'invoice'), r)
    total = dec(inv['total_with_vat'])
    r = pay(S['inv'], 10, typ=1)
    ck('part payment', r.st in (200, 201) and dec(r['paid']) == 10 and r['payment_type'] == 1 and r['invoice'] == ref('invoice', S['inv']) and ts(r['date_added']), r)
    i2 = one('invoice', S['inv'])
    ck('part payment: not yet paid', i2['date_paid'] is None and dec(i2['due_sum']) == total - 10)
    m0 = i2['modified']
    r = pay(S['inv'], total - 10)
    i2 = one('invoice', S['inv'])
    ck('full payment sets date_paid', r.st in (200, 201) and i2['date_paid'] is not None and dec(i2['due_sum']) == 0, i2)
    ck('date_paid__gte', S['inv'] in pick(get('/invoice/', client__is=c, date_paid__gte=now().date().isoformat())) and S['two'] not in pick(get('/invoice/', client__is=c, date_paid__gte='2000-01-01')))
    pid = r['id']
    r = post(f'/invoicepayment/{pid}/cancel_payment/', {})
    ck('cancel needs info and cancel_date', err(r, 'info', 'cancel_date'), r)
    cd = (now() - timedelta(days=1)).replace(microsecond=0)
    r = post(f'/invoicepayment/{pid}/cancel_payment/', {'info': 'mistake', 'cancel_date': cd.isoformat()})
    ck('cancel makes a negative payment', r.st in (200, 201) and dec(r['paid']) == 10 - total and r['id'] != pid, r)
    ck('cancel_date is used when the department has it enabled', ts(r['date_added']) == cd, r)
    l = get('/invoicepayment/', invoice__is=S['inv'])
    ck('the original payment is kept', page(l) and l['count'] == 3 and pid in pick(l), l)
    ck('cancel restores the outstanding balance', dec(one('invoice', S['inv'])['due_sum']) == total - 10)
    ck('a cancelled payment cannot be cancelled again', post(f'/invoicepayment/{pid}/cancel_payment/', {'info': 'x', 'cancel_date': cd.isoformat()}).st == 400)
    ctl('PATCH', f'departments/{DEP}', {'payment_cancel_set_date': False})
    r = pay(S['inv'], 5)
    r = post(f"/invoicepayment/{r['id']}/cancel_payment/", {'info': 'x', 'cancel_date': cd.isoformat()})
    ck('payment_cancel_set_date off: cancel_date ignored', r.st in (200, 201) and abs(ts(r['date_added']) - now()) < timedelta(minutes=1), r)
    ctl('PATCH', f'departments/{DEP}', {'payment_cancel_set_date': True})
    # lost answer
    ctl('DELETE', 'requests')
    lost = False
    try:
        pay(S['inv2'], 3, fault={'connectionReset': {'when': 'after'}})
    except (OSError, http.client.HTTPException):
        lost = True
    l = get('/invoicepayment/', invoice__is=S['inv2'])
    v = ctl('POST', 'requests/verify', {'method': 'POST', 'path': '/invoicepayment/', 'count': 1})
    ck('lost answer: exactly one payment, journal agrees', lost and l['count'] == 1 and v['ok'], (lost, l, v))
    r = pay(S['inv2'], 3, fault='http500')
    ck('500 before: nothing happened', r.st == 500 and get('/invoicepayment/', invoice__is=S['inv2'])['count'] == 1)


def s_credit():
    two = S['two']
    rows = get('/invoicerow/', invoice__is=two)['results']
    before = one('invoice', two)
    r = post(f'/invoice/{two}/partial_refund/', {'invoice_rows': [{'invoice_row': rows[1]['url']}], 'use_original_invoice_date': False})
    ck('partial refund: a credit note of one row', r.st in (200, 201) and r['credit_note'] is True and dec(r['total_with_vat']) == -dec(rows[1]['sum_total']), r)
    ck('partial refund is dated today', r['invoice_date'] == now().date().isoformat())
    ck('credit note rows', get('/invoicerow/', invoice__is=r['id'])['count'] == 1)
    ck('the original invoice is unchanged', one('invoice', two) == before, one('invoice', two))
    r2 = post(f"/invoice/{S['inv2']}/partial_refund/", {'invoice_rows': [{'invoice_row': rows[0]['url']}], 'use_original_invoice_date': False})
    ck("partial refund of another invoice's row refused", r2.st == 400, r2)
    ck('partial refund without rows refused', err(post(f'/invoice/{two}/partial_refund/', {'use_original_invoice_date': True}), 'invoice_rows'))
    fx = ctl('POST', 'fixtures', {'invoices': [{'ref': 'f', 'client': S['c'], 'invoice_date': (now() - timedelta(days=5)).date().isoformat(), 'rows': [{'total_with_vat': '60.00'}]}]})['invoices']['f']['id']
    orig = one('invoice', fx)
    r = post(f'/invoice/{fx}/full_refund/', {'use_original_invoice_date': True})
    ck('full refund dated as the original', r.st in (200, 201) and r['credit_note'] is True and r['invoice_date'] == orig['invoice_date'] and dec(r['total_with_vat']) == -60, r)
    ck('full refund leaves the original as it was', one('invoice', fx) == orig)
    ck('credit note is on the list', r['id'] in pick(get('/invoice/', client__is=S['c'], credit_note__is='true')))
    r = post(f'/invoice/{fx}/full_refund/', {'use_original_invoice_date': True})
    S['twice'] = r.st
    ck('a second full refund of one invoice gives an answer (not shown which)', r.st in (200, 201, 400), r)
    ck('use_original_invoice_date must be boolean', err(post(f"/invoice/{S['inv2']}/full_refund/", {'use_original_invoice_date': 'maybe'}), 'use_original_invoice_date'))
    ck('refund of an unknown invoice: 404', post('/invoice/99999999/full_refund/', {'use_original_invoice_date': False}).st == 404)
    d = ctl('POST', 'fixtures', {'invoices': [{'ref': 'd', 'client': S['c'], 'status': 0, 'rows': [{'total_with_vat': '6.00'}]}]})['invoices']['d']['id']
    ck('a draft cannot be refunded', post(f'/invoice/{d}/full_refund/', {'use_original_invoice_date': False}).st == 400)


LF = 'amount terminal_id payment_type transaction_type creator department id task_id created modified aborted cashier_desk payment_method payment unallocated_payment refunded_transaction payment_link'.split()


def link(inv=None, amount='10.00', data=None, **over):
    b = {'amount': amount, 'terminal_id': 0, 'payment_type': 5003, 'transaction_type': 4, 'department': ref('department', DEP),
         'payment_link_data': {'duration': 60, 'delivery_method': 0, 'description': 'Your visit', **(data or {})}}
    if inv:
        b['invoice'] = ref('invoice', inv)
        b['payment_link_data']['invoice_id'] = inv
    else:
        b['prepayment_data'] = {'client_id': S['c'], 'department_id': DEP, 'description': 'Deposit'}
    b.update(over)
    return post('/postransaction/', b)


def s_links():
    c = S['c']
    ck('department allows payment links', get(f'/department/{DEP}/').get('allow_nhp_processing') is True)
    inv = ctl('POST', 'fixtures', {'invoices': [{'ref': x, 'client': c, 'department': DEP, 'rows': [{'total_with_vat': '75.00'}]} for x in 'abcdef']})['invoices']
    I = {k: v['id'] for k, v in inv.items()}
    m0 = last_msg()
    r = link(I['a'], '75.00', {'return_url': 'https://shop.example/done'})
    ck('link for an invoice: 201', r.st == 201, r)
    ck('link: all fields answered', not [k for k in LF if k not in r.j], [k for k in LF if k not in r.j])
    ck('link: payment_link_data is write-only', 'payment_link_data' not in r.j)
    pl = r['payment_link']
    ck('link: UUID, url, pending, not sent', uuid.UUID(pl['external_id']) and pl['url'].startswith('http') and pl['payment_status'] == 1 and pl['delivery_status'] == 1, pl)
    ck('delivery_method 0 sends nothing', not msgs(m0))
    ck('expiration is duration minutes away', abs(ts(pl['expiration_time']) - ts(r['created']) - timedelta(minutes=60)) < timedelta(minutes=1), pl)
    tid = r['id']
    l = get(f"/invoice/{I['a']}/postransactions/")
    ck("the invoice's postransactions", l.st == 200 and pick(l) == {tid}, l)
    pg = raw('GET', pl['url'][len(BASE):])
    ck('payment page shows amount and description', pg.st == 200 and b'75.00' in pg.b and b'Your visit' in pg.b, pg)
    p = form(pl['url'], method='card', action='pay')
    ck('paying on the page returns to return_url', p.st in (302, 303) and p.h.get('location') == 'https://shop.example/done', (p, p.h))
    r = get(f'/postransaction/{tid}/')
    ck('paid link: accepted, with its payment', r['payment_link']['payment_status'] == 5 and isref(r['payment'], 'invoicepayment') and r['payment_method'] == 'card', r)
    i = one('invoice', I['a'])
    ck('paid link: the invoice is paid', i['date_paid'] and dec(i['due_sum']) == 0 and get('/invoicepayment/', invoice__is=I['a'])['count'] == 1, i)
    form(pl['url'], method='card', action='pay')
    ck('paying twice pays once', get('/invoicepayment/', invoice__is=I['a'])['count'] == 1)
    m0 = last_msg()
    r = link(I['b'], '75.00', {'delivery_method': 2, 'email': 'other@book.example'})
    ms = msgs(m0)
    ck('delivery_method 2: one email to the address sent', r['payment_link']['delivery_status'] == 2 and [(m['channel'], m['recipient']) for m in ms] == [('email', 'other@book.example')], (r, ms))
    form(r['payment_link']['url'], method='card', action='fail')
    ck('refused card: 2 Failed, nothing paid', get(f"/postransaction/{r['id']}/")['payment_link']['payment_status'] == 2 and get('/invoicepayment/', invoice__is=I['b'])['count'] == 0)
    m0 = last_msg()
    b = {'duration': 60}
    r = post('/postransaction/', {'amount': '75.00', 'terminal_id': 0, 'payment_type': 5003, 'transaction_type': 4, 'department': ref('department', DEP), 'invoice': ref('invoice', I['c']), 'payment_link_data': {'duration': 60, 'invoice_id': I['c']}})
    ms = {(m['channel'], m['recipient']) for m in msgs(m0)}
    ck("default delivery: SMS and email to the client's primary values", r['payment_link']['delivery_status'] == 2 and {x for x, _ in ms} == {'email', 'sms'} and ('email', 'mia.bookman@book.example') in ms, (r, ms))
    form(r['payment_link']['url'], action='abort')
    r = get(f"/postransaction/{r['id']}/")
    ck('aborted: 4 and aborted=true', r['payment_link']['payment_status'] == 4 and r['aborted'] is True, r)
    r = link(I['d'], '75.00', {'delivery_method': 3})
    ck('delivery_method 3 is accepted', r.st == 201 and r['payment_link']['delivery_status'] == 2)
    ck('amount is decimal', dec(r['amount']) == 75)
    ctl('POST', 'snapshots', {'name': 'exp'})
    advance('PT61M')
    r2 = get(f"/postransaction/{r['id']}/")
    ck('expired: 3', r2['payment_link']['payment_status'] == 3, r2)
    form(r['payment_link']['url'], method='card', action='pay')
    ck('an expired link cannot be paid', get('/invoicepayment/', invoice__is=I['d'])['count'] == 0 and get(f"/postransaction/{r['id']}/")['payment_link']['payment_status'] == 3)
    advance('PT12H')
    ck('an issued token expires by the clock', get('/client/', page_size=1).st == 401)
    ctl('POST', 'snapshots/exp/restore')
    ck('and works again in the snapshot', get('/client/', page_size=1).st == 200)
    ck('terminal_id must be 0', err(link(I['e'], terminal_id=1), 'terminal_id'))
    ck('payment_type must be 5003', err(link(I['e'], payment_type=5000), 'payment_type'))
    ck('transaction_type must be 4', err(link(I['e'], transaction_type=1), 'transaction_type'))
    ck('delivery_method 4 refused', link(I['e'], data={'delivery_method': 4}).st == 400)
    ck('tokenize is yes, no or ask', link(I['e'], data={'tokenize': 'maybe'}).st == 400 and link(I['e'], data={'tokenize': 'ask'}).st == 201)
    ck('recurring_model is subscription or one-off', link(I['e'], data={'recurring_model': 'x'}).st == 400 and link(I['e'], data={'recurring_model': 'one-off'}).st == 201)
    ck('return_url must be safe', link(I['e'], data={'return_url': 'javascript:alert(1)'}).st == 400)
    ck('neither invoice nor prepayment refused', post('/postransaction/', {'amount': '1', 'terminal_id': 0, 'payment_type': 5003, 'transaction_type': 4, 'department': ref('department', DEP), 'payment_link_data': {'duration': 5}}).st == 400)
    ck('a mismatched invoice_id refused', err(r := link(I['e'], invoice=ref('invoice', I['f']))), r)
    ctl('PATCH', f'departments/{DEP}', {'allow_nhp_processing': False})
    ck('department without payment links: refused', link(I['f']).st in (400, 403) and get(f'/department/{DEP}/')['allow_nhp_processing'] is False)
    ctl('PATCH', f'departments/{DEP}', {'allow_nhp_processing': True})
    # prepayment link
    n0 = get('/unallocatedpayment/', client__is=c)['count']
    r = link(None, '40.00')
    ck('link for a prepayment', r.st == 201 and r['payment'] is None and r['unallocated_payment'] is None, r)
    ck('no prepayment before it is paid', get('/unallocatedpayment/', client__is=c)['count'] == n0)
    form(r['payment_link']['url'], method='mobile', action='pay')
    r = get(f"/postransaction/{r['id']}/")
    ck('paid: accepted, with its prepayment', r['payment_link']['payment_status'] == 5 and isref(r['unallocated_payment'], 'unallocatedpayment') and r['payment'] is None, r)
    u = get(r['unallocated_payment'])
    ck('the prepayment is 40.00, unused, of the client', dec(u['paid']) == 40 and dec(u['unused_amount']) == 40 and u['client'] == ref('client', c) and u['description'] == 'Deposit' and u['payment_type'] == 7, u)


def s_prepay():
    c = S['c']
    b = {'department': ref('department', DEP), 'client': ref('client', c), 'payment_type': 0, 'paid': '50.00', 'description': 'Deposit'}
    r = post('/unallocatedpayment/', b)
    ck('prepayment', r.st in (200, 201) and dec(r['paid']) == 50 and dec(r['unused_amount']) == 50 and r['fully_used'] is False and r['refunds'] is None, r)
    ck('prepayment: external_info always present', isinstance(r['external_info'], dict) and 'external_id' in r['external_info'])
    u = r['id']
    ck('prepayment needs department, client, paid', err(post('/unallocatedpayment/', {}), 'department', 'client', 'paid'))
    ck('prepayment of type 8 rejected', err(post('/unallocatedpayment/', {**b, 'payment_type': 8}), 'payment_type'))
    ck('negative without refunds rejected', post('/unallocatedpayment/', {**b, 'paid': '-5'}).st == 400)
    ck('zero rejected', post('/unallocatedpayment/', {**b, 'paid': '0'}).st == 400)
    ck('unused_amount is read-only', dec(post('/unallocatedpayment/', {**b, 'unused_amount': '1', 'paid': '2'}).get('unused_amount', 2)) == 2)
    t = r['modified']
    r = patch(f'/unallocatedpayment/{u}/', {'external_info': {'external_id': 'BOOK-1', 'channel': 'web'}})
    ck('external_id is written back, the other key kept', r.st == 200 and r['external_info']['external_id'] == 'BOOK-1' and r['external_info'].get('channel') == 'web', r)
    ck('write-back moves modified', ts(r['modified']) > ts(t) and u in pick(get('/unallocatedpayment/', client__is=c, modified__gte=r['modified'])))
    neg = {**b, 'refunds': ref('unallocatedpayment', u), 'description': ''}
    ck('refund above unused_amount rejected', err(post('/unallocatedpayment/', {**neg, 'paid': '-50.01'})))
    r = post('/unallocatedpayment/', {**neg, 'paid': '-20.00'})
    ck('refund: negative, points at the original', r.st in (200, 201) and dec(r['paid']) == -20 and r['refunds'] == ref('unallocatedpayment', u), r)
    ck('refund lowers unused_amount', dec(get(f'/unallocatedpayment/{u}/')['unused_amount']) == 30)
    ck('a second refund above the rest rejected', err(post('/unallocatedpayment/', {**neg, 'paid': '-30.01'})))
    r = post('/unallocatedpayment/', {**neg, 'paid': '-30.00'})
    x = get(f'/unallocatedpayment/{u}/')
    ck('refund of the rest: fully_used', r.st in (200, 201) and dec(x['unused_amount']) == 0 and x['fully_used'] is True, x)
    r = post('/unallocatedpayment/', {**neg, 'paid': '5'})
    ck('a positive amount with refunds is refused, or is no refund', r.st == 400 or r['refunds'] is None, r)
    l = get('/unallocatedpayment/', client__is=c)
    ck('prepayments of the client, external_info on each', page(l) and all(y['client'] == ref('client', c) and 'external_info' in y for y in l['results']))


def s_sync():
    t0 = now()
    base = max(pick(get('/client/', page_size=50, modified__gte=(t0 - timedelta(hours=1)).isoformat())) or {0})
    ctl('POST', 'fixtures', {'clients': [{'firstname': f'Sync{i}', 'lastname': 'Delta'} for i in range(60)]})
    want = 60
    seen, q, n, cnt = [], {'modified__gte': t0.isoformat(), 'page_size': 25}, 0, None
    r = get('/client/', **q); cnt = r['count']
    while True:
        seen += [x['id'] for x in r['results']]; n += 1
        if not r['next']: break
        r = get(r['next'])
    ck('delta by next: three pages, each record once', n == 3 and len(seen) == len(set(seen)) == cnt == want, (n, len(seen), cnt))
    got, last, n = [], 0, 0
    while True:
        r = get('/client/', modified__gte=t0.isoformat(), id__gt=last, page_size=25)
        if not r['results']: break
        got += [x['id'] for x in r['results']]; last = max(got); n += 1
    ck('delta by id__gt: the same records', sorted(got) == sorted(seen) and n == 3, (n, len(got)))
    ck('id__gt is exclusive', last not in pick(get('/client/', id__gt=last - 1, modified__gte=t0.isoformat())) or get('/client/', id__gt=last)['count'] == 0)
    tm = get(f'/client/{seen[7]}/')['modified']
    ck('modified__gte includes the very moment', seen[7] in pick(get('/client/', modified__gte=tm)))
    z = ts(tm).astimezone(__import__('datetime').timezone.utc)
    ck('modified__gte takes Z as well as an offset', get('/client/', modified__gte=z.strftime('%Y-%m-%dT%H:%M:%S.%fZ'))['count'] == get('/client/', modified__gte=tm)['count'])
    naive = ts(tm).strftime('%Y-%m-%dT%H:%M:%S.%f')
    ck('modified__gte without an offset is taken', get('/client/', modified__gte=naive).st == 200)
    t1 = now()
    patch(f'/client/{seen[3]}/', {'email': 'delta@book.example'})
    ck('one change, one record in the delta', pick(get('/client/', modified__gte=t1.isoformat())) == {seen[3]})
    ck('modified__gte on invoices, consultations, patients, prepayments', all(get(f'/{x}/', modified__gte=(t1 + timedelta(days=1)).isoformat())['count'] == 0 for x in ('invoice', 'consultation', 'patient', 'unallocatedpayment')))
    ck('modified__gte=nonsense is 400', err(get('/client/', modified__gte='yesterday'), 'modified__gte'))
    # invoices from the clinic's history: over pages by id__gt
    since = (t0 - timedelta(days=12)).isoformat()
    cnt = get('/invoice/', modified__gte=since, page_size=1)['count']
    ids, last = [], 0
    while True:
        r = get('/invoice/', modified__gte=since, id__gt=last, page_size=100)
        if not r['results']: break
        ids += [x['id'] for x in r['results']]; last = max(ids)
        if len(ids) >= 400: break
    ck('invoice sync over pages is complete', len(ids) == len(set(ids)) and (len(ids) == cnt or len(ids) >= 400), (len(ids), cnt))


PF = 'url consultation prescriber department created modified status client pharmacy_id archived patients items uuid prescription_set_uuid invoice remarks created_user modified_user modified_session issue_time is_order is_payment prescription_order payment_details'.split()
PIF = 'url name package_size product_id product_nplid article_id article_nplpackid row_id license_id pharmacy_id prescription created modified valid_until indication dosage_form strength quantity unit_description package_content quantity_packages patients prescribed_medicine latest_dispensing instructions language repeat_number repeat_timevalue repeat_timeunit patient_identification patient_id_qualifier patient_species supplimentary_information created_user modified_user copied_from'.split()


def s_prescription():
    c, p = S['c'], S['p']
    it = {'name': 'Amoxicillin', 'patients': [p], 'strength': '50 mg', 'instructions': '1 x 2', 'quantity_packages': 2, 'valid_until': (now() + timedelta(days=300)).date().isoformat()}
    b = {'client_id': c, 'department_id': DEP, 'prescriber_id': 1, 'issue_time': now().isoformat(), 'prescription_items': [it]}
    r = post('/eprescription/prescription/', {})
    ck('prescription: required fields', err(r, 'client_id', 'department_id', 'prescriber_id', 'issue_time', 'prescription_items'), r)
    r = post('/eprescription/prescription/', {**b, 'prescription_items': [{}]})
    ck('prescription item: required fields', err(r, 'prescription_items'), r)
    ck('usability: an error inside a nested record names its field', all(k in str(r.j) for k in it), r)
    r = post('/eprescription/prescription/', {**b, 'remarks': 'web', 'consultation_id': S['cid']})
    ck('prescription, 1 Draft by default', r.st in (200, 201) and r['status'] == 1, r)
    ck('prescription: all fields', not [k for k in PF if k not in r.j], [k for k in PF if k not in r.j])
    ck('prescription: references', r['client'] == ref('client', c) and r['department'] == ref('department', DEP) and r['prescriber'] == ref('user', 1) and r['consultation'] == ref('consultation', S['cid']) and r['patients'] == [ref('patient', p)] and len(r['items']) == 1)
    ck('prescription: uuids', uuid.UUID(r['uuid']) and uuid.UUID(r['prescription_set_uuid']))
    u = r['url']
    x = get(r['items'][0])
    ck('prescription item: all fields', x.st == 200 and not [k for k in PIF if k not in x.j], [k for k in PIF if k not in (x.j or {})])
    ck('prescription item: values and repeat_number 1', x['name'] == 'Amoxicillin' and x['repeat_number'] == 1 and x['quantity_packages'] == 2 and x['prescription'] == u, x)
    x = patch(u, {'status': 3, 'remarks': 'sent'})
    ck('PATCH status and remarks', x.st == 200 and x['status'] == 3 and x['remarks'] == 'sent', x)
    ck('PATCH of another field is refused or without effect', (x := patch(u, {'prescriber_id': 2})).st == 400 or get(u)['prescriber'] == ref('user', 1), x)
    ck('PATCH to status 9 refused', err(patch(u, {'status': 9}), 'status'))
    ck('PUT and DELETE not supported', api('PUT', u, b).st == 405 and api('DELETE', u).st == 405)
    ck('retrieve', get(u)['status'] == 3 and get('/eprescription/prescription/99999999/').st == 404)
    # the fee: settings -> counter sale -> item -> finalize -> payment
    st = get(f'/department/{DEP}/settings/')
    fee = st.get('prescription_fee_item_id')
    ck('fee item in the department settings', st.st == 200 and isint(fee), st)
    s = post('/countersale/', {'department': ref('department', DEP), 'client': ref('client', c)})
    ck('counter sale: a draft', s.st in (200, 201) and s['status'] == 0 and s['countersale'] is True and s['invoice_number'] is None, s)
    r = post(f"/countersale/{s['id']}/items/", {'item': st['prescription_fee_item'], 'quantity': '1'})
    price = dec(next(i for i in S['items'] if i['id'] == fee)['price_with_vat'])
    ck('fee added', r.st in (200, 201) and dec(r['sum_total']) == price, r)
    ck('payment of the draft refused', err(pay(s['id'], price)))
    r = post(f"/countersale/{s['id']}/finalize/")
    ck('finalized: status 3 with a number', r.st == 200 and r['status'] == 3 and isint(r['invoice_number']), r)
    ck('countersale__is finds it', s['id'] in pick(get('/invoice/', client__is=c, countersale__is='true')))
    r = pay(s['id'], price)
    ck('fee paid', r.st in (200, 201) and one('invoice', s['id'])['date_paid'])
    r = get(u)
    ck('the prescription names the paid fee', r['invoice'] == ref('invoice', s['id']) and r['payment_details'] is not None, r)


def s_locks():
    c = S['c']
    r = get(f'/settings/department/{DEP}/')
    ck('department settings', r.st == 200 and 'financial_period_lock_date' in r.j and r['automatic_financial_period_lock_enabled'] is False and isinstance(r['payment_cancel_set_date'], bool) and isinstance(r['enable_communication_preferences'], bool), r)
    lock = (now() - timedelta(days=3)).date()
    old = (now() - timedelta(days=6)).replace(microsecond=0)
    inv = ctl('POST', 'fixtures', {'invoices': [{'ref': 'l', 'client': c, 'department': DEP, 'invoice_date': old.date().isoformat(), 'rows': [{'total_with_vat': '20.00'}]}]})['invoices']['l']['id']
    p0 = pay(inv, 1, old.isoformat())
    ck('before the lock an earlier payment is taken', p0.st in (200, 201), p0)
    r = patch(f'/settings/department/{DEP}/', {'financial_period_lock_date': lock.isoformat()})
    ck('lock date is written', r.st == 200 and r['financial_period_lock_date'] == lock.isoformat(), r)
    ck('payment before the lock refused', err(r := pay(inv, 1, old.isoformat())), r)
    ck('payment on the lock date is taken', pay(inv, 1, f'{lock}T12:00:00').st in (200, 201))
    ck('credit note before the lock refused', err(r := post(f'/invoice/{inv}/full_refund/', {'use_original_invoice_date': True})), r)
    ck('credit note dated today is taken', (r := post(f'/invoice/{inv}/full_refund/', {'use_original_invoice_date': False})).st in (200, 201), r)
    ck('cancellation before the lock refused', err(r := post(f"/invoicepayment/{p0['id']}/cancel_payment/", {'info': 'x', 'cancel_date': old.isoformat()})), r)
    ck('bad lock date refused', err(patch(f'/settings/department/{DEP}/', {'financial_period_lock_date': '31.12.2026'}), 'financial_period_lock_date'))
    patch(f'/settings/department/{DEP}/', {'financial_period_lock_date': None})
    ctl('POST', 'snapshots', {'name': 'me'})
    ctl('PATCH', f'departments/{DEP}', {'automatic_financial_period_lock_enabled': True})
    before = get(f'/settings/department/{DEP}/')['financial_period_lock_date']
    r = patch(f'/settings/department/{DEP}/', {'financial_period_lock_date': '2026-01-01'})
    ck('PATCH while automatic locking is on refused', err(r, 'financial_period_lock_date'), r)
    advance('P31D'); TOKEN[0] = login()['access_token']
    after = get(f'/settings/department/{DEP}/')['financial_period_lock_date']
    ck('a month later the lock has moved', after and (before is None or before < after), (before, after))
    yesterday = (date.fromisoformat(after) - timedelta(days=1)).isoformat()
    ck('a payment into the closed month refused', err(r := pay(S['inv2'], 1, f'{yesterday}T12:00:00+02:00')), r)
    ck('a payment today taken', pay(S['inv2'], 1).st in (200, 201))
    ctl('POST', 'snapshots/me/restore'); TOKEN[0] = login()['access_token']
    ctl('PATCH', f'departments/{DEP}', {'automatic_financial_period_lock_enabled': False})


def s_faults():
    r = api('GET', '/client/', fault={'spurious429': {'retryAfter': 'seconds', 'seconds': 1}}, page_size=1)
    ck('429 has Retry-After in seconds', r.st == 429 and r.h.get('retry-after', '').isdigit(), r.h)
    r = api('GET', '/client/', fault='http503Html', page_size=1)
    ck('503 with a page is no JSON', r.st == 503 and r.j is None)
    r = api('GET', '/client/', fault='notJson', page_size=1)
    ck('200 with a page is no JSON', r.st == 200 and r.j is None)
    try:
        r = api('GET', '/client/', fault='truncatedBody', page_size=1); cut = r.j is None
    except (OSError, http.client.HTTPException):
        cut = True
    ck('half an answer is noticed', cut)
    ctl('POST', 'scenario', {'name': 'strict'})
    ck('README, scenario strict: unknown field refused', post('/client/', {'firstname': 'A', 'nonsense': 1}).st == 400)
    ck('README, scenario strict: unknown filter refused', get('/client/', nonsense='1').st == 400)
    ck("strict: the specification's own example filter is taken", get(f"/patient/?client__is={S['c']}&archived__is=false&deceased__is_null=true").st == 200)
    ctl('DELETE', 'quirks'); ctl('DELETE', 'faults')


def s_webhook():
    got = []

    class H(http.server.BaseHTTPRequestHandler):
        def do_POST(s):
            got.append(json.loads(s.rfile.read(int(s.headers['content-length'])))); ev.set()
            s.send_response(200); s.send_header('content-length', '0'); s.end_headers()

        def log_message(s, *a): pass
    ev = threading.Event()
    srv = http.server.HTTPServer(('127.0.0.1', 0), H)
    threading.Thread(target=srv.serve_forever, daemon=True).start()
    ctl('POST', 'subscriptions', [{'url': f'http://127.0.0.1:{srv.server_port}/', 'format': 'json', 'triggers': [12]}])
    u = post('/unallocatedpayment/', {'department': ref('department', DEP), 'client': ref('client', S['c']), 'payment_type': 0, 'paid': '9.00'})['id']
    ok = ev.wait(3)
    ck('trigger 12 fires on create', ok and str(u) in json.dumps(got), got)
    ev.clear(); patch(f'/unallocatedpayment/{u}/', {'external_info': {'external_id': 'W'}})
    ck('trigger 12 fires on modify', ev.wait(3) and len(got) == 2, got)
    ctl('POST', 'subscriptions', [])
    srv.shutdown(); srv.server_close()


def s_limits():
    d = S['dps']
    size = min(1000, 20 * d)
    w = -(-size // d)
    ok = 0
    while ok < 200:
        r = get('/alternativepricing/', page_size=size)
        if r.st != 200:
            break
        ok += 1
    ck('list limit 100 a minute, by page weight', r.st == 429 and ok == 100 // w, (r, ok, w))
    ck('429: Retry-After within the window', r.h.get('retry-after', '').isdigit() and 1 <= int(r.h['retry-after']) <= 60, r.h)
    ck('limits are per action: retrieve still works', get('/alternativepricing/99999999/').st == 404)
    ck('limits are per endpoint: account numbers still work', get('/accountnumber/', page_size=1).st == 200)
    ctl('POST', 'reset')
    ck('reset ends the limits', api('GET', '/alternativepricing/', tok='sandbox-token').st == 200)
    ck('reset ends what was made', api('GET', '/client/', tok='sandbox-token', email__is='mia.bookman@book.example')['count'] == 0)


def main():
    ctl('POST', 'reset')
    TOKEN[0] = 'sandbox-token'
    for s in (s_auth, s_conventions, s_client, s_patient, s_fields, s_booking, s_consultation, s_invoice, s_credit, s_links, s_prepay, s_sync, s_prescription, s_locks, s_faults, s_webhook, s_limits):
        print(f'# {s.__name__[2:]}')
        try:
            s()
        except Exception as e:
            tb = traceback.extract_tb(e.__traceback__)
            ln = [f for f in tb if f.name == s.__name__] or tb
            ck(f'{s.__name__} runs to its end', False, f'line {ln[-1].lineno}: {ln[-1].line}: {e!r}')
    print(f'{N} checks, {F} failed')
    return 1 if F else 0


sys.exit(main())
