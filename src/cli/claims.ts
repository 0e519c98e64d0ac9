/** What stands outside, beside a response: a line for each write, from the ledger. */

import type { Claim } from '../core/claims.ts';
import { oneLine } from '../lib/text.ts';
import { clean, type Paint } from './terminal.ts';

export function claimLines(
  claims: readonly Claim[],
  { dim, green, red, yellow }: Paint,
  width: number,
): readonly string[] {
  const said = ({ effect, target, status, receipt }: Claim): string => {
    const what = oneLine(clean(`${effect} ${target}`), Math.max(40, width - 30));
    const why = receipt === null ? '' : oneLine(clean(receipt), Math.max(40, width - 8));
    switch (status) {
      case 'done':
        return green(`  ✓ ${what}: done`) + dim(why === '' ? '' : ` (receipt ${why})`);
      case 'failed':
        return red(`  ✗ ${what}: failed`) + dim(why === '' ? '' : ` (${why})`);
      case 'withdrawn':
        return yellow(`  – ${what}: not sent`) + dim(why === '' ? '' : ` (${why})`);
      case 'intended':
        return yellow(`  … ${what}: not sent yet`);
      default:
        return yellow(`  ? ${what}: unknown`) + dim(why === '' ? '' : ` (${why})`);
    }
  };
  return claims.length === 0 ? [] : [dim('  By the ledger:'), ...claims.map(said)];
}
