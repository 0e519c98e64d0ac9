/**
 * The script that makes a bare engine a guest: it puts our names on `globalThis` and hands the host five helpers.
 *
 * B1  Evaluated once, before any cell, as a function of `(classOf, overflow, outputChars)`; every heap of a build
 *     begins with the same bytes, apart from its seed.
 * B2  The helpers are reachable from the host only. No name leads to them, and call sites do not give functions away.
 * B3  `PROTOCOL` names what host and helpers agree on. Heaps live longer than releases: a change that old helpers do
 *     not know gets a new number.
 */

import { CALLS } from './calls.ts';
import { INSPECT } from './inspect.ts';
import { MANIFEST } from './manifest.ts';
import { OUTPUT } from './output.ts';
import { PRIMORDIALS } from './primordials.ts';
import { TIMERS } from './timers.ts';
import { URLS } from './url.ts';
import { WEB } from './web.ts';

export const PROTOCOL = 1;

/** The names of the helpers, in the order in which the host asks for them. */
export const HELPERS = ['track', 'fail', 'settle', 'complain', 'take'] as const;
export type HelperName = (typeof HELPERS)[number];

const script = `(classOf, overflow, outputChars) => {
  'use strict';
  const P = (${PRIMORDIALS})();
  const show = (${INSPECT})(P, classOf);
  const output = (${OUTPUT})(P, show, overflow, outputChars);
  const calls = (${CALLS})(P, show, output.print, outputChars);
  const { URL, URLSearchParams } = (${URLS})();
  const world = {
    console: output.console, URL, URLSearchParams,
    ...(${TIMERS})(P, calls),
    ...(${WEB})(P, calls, URL, URLSearchParams),
  };
  for (const name of Object.keys(world))
    P.defineProperty(globalThis, name, { value: world[name], writable: true, configurable: true });

  // A call site names the function that runs there; with that a cell could take hold of a helper.
  Error.prepareStackTrace = (_, sites) => sites;
  delete Object.getPrototypeOf(new Error().stack[0]).getFunction;
  Error.prepareStackTrace = undefined;

  const live = (${MANIFEST})(P, show);
  const take = () => '{' + output.take() + ',' + calls.take() + ',' + live() + '}';
  return { track: calls.track, fail: calls.fail, settle: calls.settle, complain: calls.complain, take };
}`;

/** The boot script. Lines that hold only a comment are left out, since the guest's heap keeps every character. */
export const BOOT = script.replace(/^\s*(\/\/.*|\/\*\*.*\*\/)\n/gm, '');
