/** What stands beside a response: a line for each write, from the ledger, and whether it is partial. */

import type { Claim } from '../core/claims.ts';
import { oneLine } from '../lib/text.ts';
import { clean, type Paint } from './terminal.ts';

export function claimLines(
  claims: readonly Claim[],
  { dim, green, red, yellow }: Paint,
  width: number,
): readonly string[] {
  const said = ({ effect, target, status, receipt, session }: Claim): string => {
    const whose = session === undefined ? '' : ` of child ${session}`;
    const what = oneLine(clean(`${effect}${whose} ${target}`), Math.max(40, width - 30));
    const why = receipt === null ? '' : oneLine(clean(receipt), Math.max(40, width - 8));
    switch (status) {
      case 'done':
        return green(`  ✓ ${what}: done`) + dim(why === '' ? '' : ` (receipt ${why})`);
      case 'failed':
        return red(`  ✗ ${what}: failed`) + dim(why === '' ? '' : ` (${why})`);
      case 'withdrawn':
        return yellow(`  – ${what}: not sent`) + dim(why === '' ? '' : ` (${why})`);
      case 'left':
        return yellow(`  ? ${what}: left with the original of this fork`);
      case 'intended':
        return yellow(`  … ${what}: not sent yet`);
      default:
        return yellow(`  ? ${what}: unknown`) + dim(why === '' ? '' : ` (${why})`);
    }
  };
  return claims.length === 0 ? [] : [dim('  By the ledger:'), ...claims.map(said)];
}

/** Of a response that stands on children that were cut off. */
export const partialLines = (titles: readonly string[], { yellow }: Paint): readonly string[] =>
  titles.length === 0
    ? []
    : [
        yellow(
          `  partial: cut off before an answer: ${titles.map((title) => `"${oneLine(clean(title), 60)}"`).join(', ')}`,
        ),
      ];
