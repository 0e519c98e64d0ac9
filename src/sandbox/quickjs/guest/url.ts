/**
 * `URL` and `URLSearchParams`, after the WHATWG standard (https://url.spec.whatwg.org).
 *
 * Own code, because the engine's extension needs a flag on Node 20 and has no `searchParams`. Left out: international
 * domain names (they are refused, not mangled) and the shortening of IPv6 addresses.
 *
 * The text is evaluated in the engine. It is not part of the protocol: a cell that changes prototypes breaks its own
 * `URL` and nothing else.
 */
export const URLS = String.raw`() => {
  const PORTS = { __proto__: null, 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21', 'file:': '' };
  const FRAGMENT = ' "<>\x60', QUERY = ' "#<>', SPECIAL_QUERY = QUERY + "'", PATH = QUERY + '?^{}\x60';
  const USER = PATH + '/:;=@[\\]|';
  const isSpecial = (protocol) => protocol in PORTS;
  const fail = (input) => { throw new TypeError('Invalid URL: ' + JSON.stringify(String(input).slice(0, 200))); };

  const encode = (text, set) => {
    let out = '';
    for (const char of text.toWellFormed()) {
      const code = char.codePointAt(0);
      if (code > 126) out += encodeURIComponent(char);
      else if (code < 32 || set.includes(char)) out += '%' + code.toString(16).toUpperCase().padStart(2, '0');
      else out += char;
    }
    return out;
  };
  const decode = (text) => text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    try { return decodeURIComponent(run); } catch { return '\ufffd'; }
  });

  const ipv4 = (host, input) => {
    const parts = host.replace(/\.$/, '').split('.');
    if (!/^(\d+|0x[0-9a-f]*)$/i.test(parts.at(-1))) return host;
    const numbers = parts.map((part) => {
      if (/^0x[0-9a-f]*$/i.test(part)) return parseInt(part.slice(2) || '0', 16);
      if (/^0[0-7]+$/.test(part)) return parseInt(part, 8);
      return /^\d+$/.test(part) ? Number(part) : fail(input);
    });
    const last = numbers.pop();
    if (numbers.length > 3 || numbers.some((n) => n > 255) || last >= 256 ** (4 - numbers.length)) fail(input);
    const value = numbers.reduce((sum, n, i) => sum + n * 256 ** (3 - i), last);
    return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
  };
  const hostOf = (text, protocol, input) => {
    if (text.startsWith('[')) return /^\[[0-9a-f:.]+\]$/i.test(text) ? text.toLowerCase() : fail(input);
    if (!isSpecial(protocol)) return /[\s#/<>?@[\\\]^|]/.test(text) ? fail(input) : encode(text, '');
    const host = decode(text).toLowerCase();
    if (host === '' ? protocol !== 'file:' : /[^!$&-.0-9;=_a-z~]/.test(host)) fail(input);
    return host === '' ? '' : ipv4(host, input);
  };
  const portOf = (text, protocol, input) => {
    if (!/^\d*$/.test(text) || Number(text) > 65535) fail(input);
    return text === '' || String(Number(text)) === PORTS[protocol] ? '' : String(Number(text));
  };
  const authority = (text, protocol, input) => {
    const at = text.lastIndexOf('@');
    const user = at < 0 ? '' : text.slice(0, at), place = text.slice(at + 1);
    const colon = user.indexOf(':');
    const parts = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(place) ?? fail(input);
    return {
      username: encode(colon < 0 ? user : user.slice(0, colon), USER),
      password: colon < 0 ? '' : encode(user.slice(colon + 1), USER),
      hostname: hostOf(parts[1], protocol, input),
      port: portOf(parts[2] ?? '', protocol, input),
    };
  };

  const pathOf = (text) => {
    const out = [], parts = text.split('/').slice(1);
    parts.forEach((part, i) => {
      const dots = part.replace(/%2e/gi, '.'), isLast = i === parts.length - 1;
      if (dots === '..') out.pop();
      else if (dots !== '.') out.push(encode(part, PATH));
      if (isLast && (dots === '..' || dots === '.')) out.push('');
    });
    return '/' + out.join('/');
  };
  const split = (text) => {
    const hash = text.indexOf('#'), before = hash < 0 ? text : text.slice(0, hash), query = before.indexOf('?');
    return {
      path: query < 0 ? before : before.slice(0, query),
      query: query < 0 ? null : before.slice(query + 1),
      hash: hash < 0 ? '' : text.slice(hash + 1),
    };
  };
  const searchOf = (query, protocol) =>
    query === null || query === '' ? '' : '?' + encode(query, isSpecial(protocol) ? SPECIAL_QUERY : QUERY);
  const hashOf = (hash) => (hash === '' ? '' : '#' + encode(hash, FRAGMENT));

  const parse = (given, base) => {
    const input = String(given).replace(/^[\0-\x20]+|[\0-\x20]+$/g, '').replace(/[\t\n\r]/g, '');
    const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(input)?.[0];
    const protocol = scheme?.toLowerCase() ?? base?.protocol ?? fail(given);
    const { path: written, query, hash } = split(scheme === undefined ? input : input.slice(scheme.length));
    const path = isSpecial(protocol) ? written.replaceAll('\\', '/') : written;
    const search = searchOf(query, protocol);
    const none = { username: '', password: '', hostname: '', port: '' };
    const isWhole = scheme !== undefined && !(isSpecial(protocol) && base?.protocol === protocol && !path.startsWith('/'));
    if (isWhole && !isSpecial(protocol) && !path.startsWith('/'))
      return { protocol, ...none, pathname: encode(path, ''), search, hash: hashOf(hash), isOpaque: true };
    if (isWhole ? isSpecial(protocol) || path.startsWith('//') : path.startsWith('//')) {
      const rest = isSpecial(protocol) && protocol !== 'file:' ? path.replace(/^\/*/, '') : path.replace(/^\/\//, '');
      const end = rest.indexOf('/'), place = authority(end < 0 ? rest : rest.slice(0, end), protocol, given);
      const tail = end < 0 ? '' : rest.slice(end);
      const pathname = tail === '' && !isSpecial(protocol) ? '' : pathOf(tail || '/');
      return { protocol, ...place, pathname, search, hash: hashOf(hash), isOpaque: false };
    }
    if (isWhole) return { protocol, ...none, pathname: pathOf(path), search, hash: hashOf(hash), isOpaque: false };
    if (base.isOpaque) return path === '' && query === null ? { ...base, hash: hashOf(hash) } : fail(given);
    if (path === '') return { ...base, search: query === null ? base.search : search, hash: hashOf(hash) };
    const full = path.startsWith('/') ? path : base.pathname.replace(/[^/]*$/, '') + path;
    return { ...base, pathname: pathOf(full), search, hash: hashOf(hash) };
  };

  const formEncode = (text) => encodeURIComponent(String(text).toWellFormed())
    .replace(/[!'()~]/g, (char) => '%' + char.charCodeAt(0).toString(16).toUpperCase()).replaceAll('%20', '+');
  const formDecode = (text) => decode(text.replaceAll('+', ' '));

  class URLSearchParams {
    #pairs = [];
    #changed = () => {};
    constructor(init = '') {
      if (typeof init === 'object' && init !== null) {
        const pairs = Symbol.iterator in init ? [...init] : Object.entries(init);
        this.#pairs = pairs.map((pair) => {
          const [name, value, ...more] = pair;
          if (value === undefined || more.length > 0) throw new TypeError('each pair needs a name and a value');
          return [String(name), String(value)];
        });
      } else this.#parse(String(init));
    }
    #parse(text) {
      this.#pairs = text.replace(/^\?/, '').split('&').filter((part) => part !== '').map((part) => {
        const at = part.indexOf('=');
        return at < 0 ? [formDecode(part), ''] : [formDecode(part.slice(0, at)), formDecode(part.slice(at + 1))];
      });
    }
    static of(search, changed) {
      const params = new URLSearchParams(search);
      params.#changed = changed;
      return params;
    }
    static refresh(params, search) { params.#parse(search); }
    #set(pairs) { this.#pairs = pairs; this.#changed(this.toString()); }
    get size() { return this.#pairs.length; }
    append(name, value) { this.#set([...this.#pairs, [String(name), String(value)]]); }
    delete(name, value) {
      const isIt = (pair) => pair[0] === String(name) && (value === undefined || pair[1] === String(value));
      this.#set(this.#pairs.filter((pair) => !isIt(pair)));
    }
    get(name) { return this.#pairs.find((pair) => pair[0] === String(name))?.[1] ?? null; }
    getAll(name) { return this.#pairs.filter((pair) => pair[0] === String(name)).map((pair) => pair[1]); }
    has(name, value) {
      return this.#pairs.some((pair) => pair[0] === String(name) && (value === undefined || pair[1] === String(value)));
    }
    set(name, value) {
      const at = this.#pairs.findIndex((pair) => pair[0] === String(name));
      if (at < 0) return this.append(name, value);
      const isKept = (pair, i) => i <= at || pair[0] !== String(name);
      this.#set(this.#pairs.map((pair, i) => (i === at ? [pair[0], String(value)] : pair)).filter(isKept));
    }
    sort() { this.#set(this.#pairs.toSorted((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0))); }
    forEach(visit, self) { for (const [name, value] of this.#pairs) visit.call(self, value, name, this); }
    *entries() { for (const [name, value] of this.#pairs) yield [name, value]; }
    *keys() { for (const [name] of this.#pairs) yield name; }
    *values() { for (const [, value] of this.#pairs) yield value; }
    [Symbol.iterator]() { return this.entries(); }
    toString() { return this.#pairs.map(([name, value]) => formEncode(name) + '=' + formEncode(value)).join('&'); }
  }
  const { of: paramsOf, refresh } = URLSearchParams;
  delete URLSearchParams.of;
  delete URLSearchParams.refresh;

  class URL {
    #at;
    #params = null;
    constructor(url, base) {
      this.#at = parse(url, base === undefined ? null : parse(base, null));
    }
    static canParse(url, base) { return URL.parse(url, base) !== null; }
    static parse(url, base) { try { return new URL(url, base); } catch { return null; } }
    #move(change) {
      this.#at = { ...this.#at, ...change };
      if (this.#params !== null && 'search' in change) refresh(this.#params, this.#at.search);
    }
    get href() {
      const { protocol, username, password, pathname, search, hash } = this.#at;
      const user = username === '' && password === '' ? '' : username + (password === '' ? '' : ':' + password) + '@';
      const place = this.host === '' && protocol !== 'file:' ? '' : '//' + user + this.host;
      return protocol + place + pathname + search + hash;
    }
    set href(value) { this.#move(parse(value, null)); }
    get origin() { return isSpecial(this.protocol) && this.protocol !== 'file:' ? this.protocol + '//' + this.host : 'null'; }
    get protocol() { return this.#at.protocol; }
    set protocol(value) {
      const next = String(value).replace(/:.*$/s, '').toLowerCase() + ':';
      if (/^[a-z][a-z0-9+.-]*:$/.test(next) && isSpecial(next) === isSpecial(this.protocol))
        this.#move({ protocol: next, port: portOf(this.port, next, value) });
    }
    get username() { return this.#at.username; }
    set username(value) { this.#move({ username: encode(String(value), USER) }); }
    get password() { return this.#at.password; }
    set password(value) { this.#move({ password: encode(String(value), USER) }); }
    get host() { return this.hostname + (this.port === '' ? '' : ':' + this.port); }
    set host(value) {
      const { hostname, port } = authority(String(value).replace(/[/?#].*$/s, ''), this.protocol, value);
      this.#move({ hostname, port });
    }
    get hostname() { return this.#at.hostname; }
    set hostname(value) { this.#move({ hostname: hostOf(String(value), this.protocol, value) }); }
    get port() { return this.#at.port; }
    set port(value) { this.#move({ port: portOf(String(value), this.protocol, value) }); }
    get pathname() { return this.#at.pathname; }
    set pathname(value) { if (!this.#at.isOpaque) this.#move({ pathname: pathOf('/' + String(value).replace(/^\//, '')) }); }
    get search() { return this.#at.search; }
    set search(value) { this.#move({ search: searchOf(String(value).replace(/^\?/, ''), this.protocol) }); }
    get hash() { return this.#at.hash; }
    set hash(value) { this.#move({ hash: hashOf(String(value).replace(/^#/, '')) }); }
    get searchParams() {
      return (this.#params ??= paramsOf(this.search, (text) => {
        this.#at = { ...this.#at, search: text === '' ? '' : '?' + text };
      }));
    }
    toString() { return this.href; }
    toJSON() { return this.href; }
  }
  return { URL, URLSearchParams };
}`;
