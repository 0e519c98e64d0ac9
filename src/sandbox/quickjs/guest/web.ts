/**
 * The small web surface of a cell: `fetch`, `tools`, `Headers`, text coding, `structuredClone`, `crypto`.
 *
 * W1  `fetch` and `tools.NAME` ask the host and do nothing else; whether a call is granted is the host's to say.
 * W2  `crypto` draws from the seeded generator of the heap: repeatable, and no secret.
 *
 * The text is evaluated in the engine. Like `URL` it is no part of the protocol.
 */
export const WEB = String.raw`(P, calls, URL, URLSearchParams) => {
  class Headers {
    #map = new Map();
    constructor(init = {}) {
      const pairs = Symbol.iterator in Object(init) ? [...init] : Object.entries(init ?? {});
      for (const [name, value] of pairs) this.append(name, value);
    }
    append(name, value) {
      const key = String(name).toLowerCase(), before = this.#map.get(key);
      this.#map.set(key, before === undefined ? String(value) : before + ', ' + value);
    }
    set(name, value) { this.#map.set(String(name).toLowerCase(), String(value)); }
    get(name) { return this.#map.get(String(name).toLowerCase()) ?? null; }
    has(name) { return this.#map.has(String(name).toLowerCase()); }
    delete(name) { this.#map.delete(String(name).toLowerCase()); }
    forEach(visit, self) { for (const [name, value] of this) visit.call(self, value, name, this); }
    *entries() { for (const name of [...this.#map.keys()].sort()) yield [name, this.#map.get(name)]; }
    *keys() { for (const [name] of this) yield name; }
    *values() { for (const [, value] of this) yield value; }
    [Symbol.iterator]() { return this.entries(); }
  }

  class Response {
    #body;
    constructor({ status, statusText = '', headers = {}, body = '', url = '' }) {
      this.ok = status >= 200 && status < 300;
      this.status = status;
      this.statusText = statusText;
      this.url = url;
      this.headers = new Headers(headers);
      this.#body = typeof body === 'string' ? body : JSON.stringify(body);
    }
    async text() { return this.#body; }
    async json() { return JSON.parse(this.#body); }
    async arrayBuffer() { return new TextEncoder().encode(this.#body).buffer; }
    async bytes() { return new TextEncoder().encode(this.#body); }
    clone() { return new Response({ ...this, body: this.#body }); }
  }

  // What a person confirmed has no status of its own: it happened, and that is all there is to know.
  const heard = (answer) =>
    typeof answer.status === 'number' ? answer : { status: 200, statusText: 'confirmed', body: answer };

  const request = (input, init) => {
    const url = new URL(typeof input === 'string' || input instanceof URL ? input : input.url ?? input).href;
    const { method = 'GET', body = null } = init;
    const headers = new Headers(init.headers);
    const isForm = body instanceof URLSearchParams;
    if (body !== null && typeof body !== 'string' && !isForm)
      throw new TypeError('fetch: the body must be text or URLSearchParams; use JSON.stringify for objects');
    if (body !== null && !headers.has('content-type'))
      headers.set('content-type', isForm ? 'application/x-www-form-urlencoded;charset=UTF-8' : 'text/plain;charset=UTF-8');
    return {
      url,
      method: String(method).toUpperCase(),
      headers: Object.fromEntries(headers),
      body: body === null ? null : String(body),
    };
  };
  const fetch = async (input, init = {}) =>
    calls.ask('fetch', P.quote(request(input, init ?? {})), (answer) => new Response(heard(answer)));

  const hidden = new Set([...Reflect.ownKeys(Object.prototype), 'then', 'toJSON']);
  const isName = (name) => {
    for (let i = 0; i < name.length; i++) {
      const unit = P.codeAt(name, i), isLetter = (unit | 32) >= 97 && (unit | 32) <= 122;
      if (!isLetter && (unit < 48 || unit > 57) && unit !== 95 && unit !== 45 && unit !== 46) return false;
    }
    return name.length > 0 && name.length <= 100;
  };
  const known = new Map();
  const tool = (name) => {
    const use = (...given) => {
      if (given.length > 1) throw new TypeError('tools.' + name + ' takes one argument, an object');
      return calls.ask('tools.' + name, (given.length === 0 ? undefined : P.quote(given[0])) ?? '{}', (result) => result);
    };
    P.defineProperty(use, 'name', { __proto__: null, value: name, configurable: true });
    P.mapSet(known, name, use);
    return use;
  };
  const tools = new P.Proxy({ __proto__: null }, {
    __proto__: null,
    get: (_, name) =>
      typeof name !== 'string' || P.setHas(hidden, name) || !isName(name) ? undefined : P.mapGet(known, name) ?? tool(name),
    set: () => false,
    defineProperty: () => false,
  });

  class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text = '') {
      const units = unescape(encodeURIComponent(String(text).toWellFormed()));
      const bytes = new Uint8Array(units.length);
      for (let i = 0; i < units.length; i++) bytes[i] = units.charCodeAt(i);
      return bytes;
    }
  }
  class TextDecoder {
    #isFatal;
    constructor(label = 'utf-8', { fatal = false } = {}) {
      if (!/^(utf-?8|unicode-1-1-utf-8)$/i.test(label)) throw new RangeError('only utf-8 can be decoded here');
      this.#isFatal = fatal;
    }
    get encoding() { return 'utf-8'; }
    get fatal() { return this.#isFatal; }
    decode(input = new Uint8Array()) {
      const bytes = ArrayBuffer.isView(input)
        ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
        : new Uint8Array(input);
      let text = '', i = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
      while (i < bytes.length) {
        const lead = bytes[i++];
        if (lead < 0x80) { text += String.fromCharCode(lead); continue; }
        const more = lead >= 0xc2 && lead < 0xe0 ? 1 : lead >= 0xe0 && lead < 0xf0 ? 2 : lead >= 0xf0 && lead < 0xf5 ? 3 : 0;
        let code = lead & (0x3f >> more), left = more;
        let low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80, high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
        while (left > 0 && bytes[i] >= low && bytes[i] <= high) {
          code = (code << 6) | (bytes[i++] & 0x3f);
          low = 0x80; high = 0xbf; left--;
        }
        if (more > 0 && left === 0) text += String.fromCodePoint(code);
        else if (this.#isFatal) throw new TypeError('the bytes are not utf-8');
        else text += '\ufffd';
      }
      return text;
    }
  }

  const structuredClone = (value) => {
    const seen = new Map();
    const refuse = (what) => { throw new DOMException(what + ' cannot be cloned', 'DataCloneError'); };
    const copy = (from) => {
      if (typeof from === 'symbol' || typeof from === 'function') refuse(String(from).slice(0, 60));
      if (typeof from !== 'object' || from === null) return from;
      if (seen.has(from)) return seen.get(from);
      const keep = (to) => { seen.set(from, to); return to; };
      if (from instanceof Date) return keep(new Date(from.getTime()));
      if (from instanceof RegExp) return keep(new RegExp(from.source, from.flags));
      if (from instanceof ArrayBuffer) return keep(from.slice(0));
      if (from instanceof DataView) return keep(new DataView(copy(from.buffer), from.byteOffset, from.byteLength));
      if (ArrayBuffer.isView(from)) return keep(new from.constructor(copy(from.buffer), from.byteOffset, from.length));
      if (from instanceof Map) {
        const to = keep(new Map());
        for (const [key, item] of from) to.set(copy(key), copy(item));
        return to;
      }
      if (from instanceof Set) {
        const to = keep(new Set());
        for (const item of from) to.add(copy(item));
        return to;
      }
      if (from instanceof Error) {
        const to = keep(new Error(from.message));
        Object.defineProperty(to, 'name', { value: from.name, configurable: true, writable: true });
        if ('cause' in from) to.cause = copy(from.cause);
        return to;
      }
      for (const Kind of [Promise, WeakMap, WeakSet, WeakRef]) if (from instanceof Kind) refuse(Kind.name);
      if (from instanceof Number || from instanceof String || from instanceof Boolean) return keep(Object(from.valueOf()));
      const to = keep(Array.isArray(from) ? new Array(from.length) : {});
      for (const key of Object.keys(from)) to[key] = copy(from[key]);
      return to;
    };
    return copy(value);
  };

  const byte = () => P.floor(P.random() * 256);
  const crypto = {
    getRandomValues(array) {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let i = 0; i < bytes.length; i++) bytes[i] = byte();
      return array;
    },
    randomUUID() {
      let text = '';
      for (let i = 0; i < 16; i++) {
        const value = i === 6 ? (byte() & 15) | 64 : i === 8 ? (byte() & 63) | 128 : byte();
        text += (i === 4 || i === 6 || i === 8 || i === 10 ? '-' : '') + (value < 16 ? '0' : '') + value.toString(16);
      }
      return text;
    },
  };

  return { fetch, tools, Headers, TextEncoder, TextDecoder, structuredClone, crypto };
}`;
