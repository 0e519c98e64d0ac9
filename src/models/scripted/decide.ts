/**
 * The next step towards the goal: one cell, or the answer. Pure.
 *
 * D1  A step is chosen from the facts alone: whatever is missing for the goal is made next, and nothing that is there is
 *     made again. So it makes no difference whether the objects it needs are a minute or three kills old.
 * D2  A report is summed up after the last message was read; a correction in the middle needs no path of its own.
 * D3  A mail is posted at most once in a turn, and not while an earlier one about the same report may have arrived.
 * D4  A turn takes at most `MOST_CALLS` calls; then the answer says where it stopped.
 */

import { mailCell } from './cells.ts';
import type { Report } from './facts.ts';
import { monthName } from './months.ts';
import type { Called, Note } from './observations.ts';
import { isRun, type Run, run, towardsAccount, towardsBilling, towardsReport } from './steps.ts';
import { fateOf, isUnwritten, troubleOf } from './trouble.ts';
import type { MailFate } from './wording.ts';
import { mailLine, reportLines } from './wording.ts';
import { readMailing } from './services.ts';
