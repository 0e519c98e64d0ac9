/**
 * The address of a request, as it is granted, shown and sent: one spelling for one place.
 *
 * A1  What does not have exactly the form `http(s)://host[:port][/path][?query]` is refused, before any parser is
 *     lenient with it: no credentials, no backslash, no control character, no relative or half address.
 * A2  The path has no `.`, `..` or empty segment and hides none: encoded slashes, backslashes and zeros, doubly
 *     encoded ones, and `..;` are refused. Escapes of plain characters are undone, so that `/%61uth` is `/auth`.
 * A3  The fragment is dropped. Decimal and short forms of an IP come out as the address that they mean, and are
 *     granted or not as that.
 */

export interface Address {
  /** As it is sent. */
  readonly url: string;
  readonly origin: string;
  readonly path: string;
  /** Origin and path, without a last slash: the place that a write acts on, however it is worded. */
  readonly place: string;
}

const FORM = /^https?:\/\/[^/?#@\\]+([/?#]|$)/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const NOT_IN_URL = /[\u0000-\u0020\u007f\\]/;
const HIDDEN = /%(2f|5c|00)|%25(2f|5c|2e|00)/i;
const DOTS_WITH_PARAMETERS = /\/(\.|%2e){1,2};/i;

/** The address, or the sentence that says what is wrong with it. Never repeats the text: it may hold a secret. */
export function addressOf(text: string): Address | string {
  if (!FORM.test(text) || NOT_IN_URL.test(text)) return NO_ADDRESS;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.username !== '' || url.password !== '') return NO_ADDRESS;
  const path = plain(url.pathname);
  if (/%(?![0-9A-F]{2})/.test(path)) return 'The path of the URL has a broken % escape.';
  if (HIDDEN.test(path) || DOTS_WITH_PARAMETERS.test(path)) {
    return 'The path of the URL hides a slash, a zero or a step upwards.';
  }
  if (path.includes('//')) return 'The path of the URL has an empty segment ("//").';
  const place = `${url.origin}${path === '/' ? path : path.replace(/\/$/, '')}`;
  return { url: `${url.origin}${path}${url.search}`, origin: url.origin, path, place };
}

/** The path with escapes of unreserved characters (RFC 3986, 2.3) undone and the others in capitals. */
export const plain = (path: string): string =>
  path.replace(/%([0-9a-f]{2})/gi, (escaped, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : escaped.toUpperCase();
  });

const NO_ADDRESS =
  'The URL is not a complete http or https address: http://host:port/path?query, without a name or password in it.';
