/** The table of verbs: names, arguments, help. Small on purpose: it is all that `outlast --help` loads. */

import { COMMAND } from './name.ts';
import type { VerbSpec } from './verb.ts';

const SESSION = ['<session>', 'an id, the beginning of one, or "last" for the newest'] as const;
const MESSAGE = ['<message...>', 'what to say; "-" reads it from stdin'] as const;
const IMAGE = ['--image <file>', 'an image that goes with it; may be given several times', 'many'] as const;
const DETACH = ['--detach', 'return at once instead of watching until it rests'] as const;
const KEY = ['--key <key>', 'a key of your own: a repeat with it is done once'] as const;
const WATCHING = `It is watched until it rests. Ctrl-C stops the watching and nothing else.
Exit code 5 says that the session rests on a decision: see inspect.`;

export const VERBS: readonly VerbSpec[] = [
  {
    name: 'serve',
    summary: 'run the server, with its page and the sample services',
    args: [],
    options: [
      ['--port <port>', 'port (OUTLAST_PORT; default 4747; 0 takes any free one)'],
      ['--host <host>', 'address (OUTLAST_HOST; default 127.0.0.1; any other needs OUTLAST_TOKENS)'],
      ['--data <folder>', 'where everything durable goes (OUTLAST_DATA; default ./.outlast)'],
      ['--policy <file>', 'what may be done, what is asked about (default: policy.json in the data folder)'],
      ['--network <hosts>', 'what commands may reach: api.example.org,*.example.org:443 (default: nothing)'],
      [
        '--unconfined',
        'give tasks a shell even where commands cannot be confined, or without confining them',
      ],
      [
        '--hands <url>',
        'where files and commands are, instead of here: an outlast hands (OUTLAST_HANDS, OUTLAST_HANDS_TOKEN)',
      ],
      [
        '--park-kernels <when>',
        'Python with objects that cannot be saved: never (default), or after-notice, =HOURS of it (24), unless something comes in',
      ],
      [
        '--retention <days>',
        'delete what nobody has come back to for so many days, after a notice; default: kept for ever',
      ],
      ['--slots <n>', 'sessions of one owner that may work at once; default 20'],
      ['--no-delegation', 'tasks get no tools to give work to tasks of their own'],
      ['--standby', 'wait until the server of that folder is gone, then take its place'],
    ],
    help: `Everything it knows is in its data folder: kill it at any moment and start it again. A second one
that stands by (--standby) goes on at once with what the first was doing.

Models, the first that is set: OUTLAST_MODEL=provider/model, OUTLAST_BASE_URL (any OpenAI-compatible
server), OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY. With none of them a scripted
planner stands in, which is no model. Providers: openai (the Responses API), openai-chat (the same key,
by chat completions), anthropic, google, compatible.

Examples:
  ${COMMAND} serve
  OUTLAST_BASE_URL=http://localhost:11434/v1 OUTLAST_MODEL=llama3.3 ${COMMAND} serve --port 5000
  OUTLAST_TOKENS=ann:SECRET,bob:OTHER ${COMMAND} serve --host 0.0.0.0`,
    isRemote: false,
    load: () => import('./verbs/serve.ts'),
  },
  {
    name: 'hands',
    summary: 'files and commands of tasks on this machine, for a server elsewhere',
    args: [],
    options: [
      ['--port <port>', 'port (OUTLAST_HANDS_PORT; default 4748; 0 takes any free one)'],
      ['--host <host>', 'address (OUTLAST_HANDS_HOST; default 127.0.0.1; any other needs a token)'],
      ['--data <folder>', 'where the environments are (OUTLAST_HANDS_DATA; default ./.outlast-hands)'],
      ['--network <hosts>', 'what commands may reach: api.example.org,*.example.org:443 (default: nothing)'],
      ['--unconfined', 'run commands even where they cannot be confined, or without confining them'],
    ],
    help: `Whoever has OUTLAST_HANDS_TOKEN, the same on both sides, may run commands here, behind the walls of this machine.
Over a network put TLS before it. Killed at any moment it loses nothing that runs; with its folder the environments
are lost, and the tasks go on from their logs in new ones.

Examples:
  ${COMMAND} hands
  OUTLAST_HANDS_TOKEN=SECRET ${COMMAND} hands --host 0.0.0.0
  OUTLAST_HANDS_TOKEN=SECRET ${COMMAND} serve --hands https://hands.example.org`,
    isRemote: false,
    load: () => import('./verbs/hands.ts'),
  },
  {
    name: 'start',
    summary: 'start a session and watch it until it rests',
    args: [MESSAGE],
    options: [
      ['--persist', 'keep the session open after its response; without it, it ends completed'],
      ['--title <title>', 'how lists call it; by default the beginning of the message'],
      ['--workspace <place>', "a folder of the server's machine, or a git remote, whose files it works on"],
      ['--budget <limits>', 'what it may use: usd=2,tokens=100000,steps=50,minutes=30'],
      ['--turn-budget <limits>', 'what each turn may use, in the same way'],
      IMAGE,
      KEY,
      DETACH,
    ],
    help: `Prints the id of the session and the receipt: the message is durable.
${WATCHING}

Examples:
  ${COMMAND} start --persist "Report on February's invoices"
  ${COMMAND} start "How many accounts are there?" --json
  ${COMMAND} start --persist --budget usd=2,minutes=30 "Sort out the overdue invoices"
  ${COMMAND} start --persist --detach - < task.txt`,
    isRemote: true,
    load: () => import('./verbs/start.ts'),
  },
  {
    name: 'send',
    summary: 'say something to a session, whatever it is doing',
    args: [SESSION, MESSAGE],
    options: [
      [
        '--when <when>',
        'next: before the next model call (default); later: after the response; now: at once',
      ],
      IMAGE,
      KEY,
      DETACH,
    ],
    help: `The receipt says what becomes of the message: whether it joins the running turn or starts one.
${WATCHING}

Examples:
  ${COMMAND} send last "Now do the same for March"
  ${COMMAND} send last "leave out the test customer" --detach
  ${COMMAND} send last "what is wrong in these?" --image before.png --image after.png
  ${COMMAND} send ses_3f9k --when now "Stop, wrong account"`,
    isRemote: true,
    load: () => import('./verbs/send.ts'),
  },
  {
    name: 'follow',
    summary: 'read the log from an offset, live; reads only',
    args: [SESSION],
    options: [['--after <seq>', 'the last event that you have; default 0, the beginning']],
    help: `Ends with the session (stopped or completed), or with Ctrl-C. With --json one event a line.

Examples:
  ${COMMAND} follow last
  ${COMMAND} follow last --after 120
  ${COMMAND} follow last --json | jq 'select(.kind == "effect.settled")'`,
    isRemote: true,
    load: () => import('./verbs/follow.ts'),
  },
  {
    name: 'attach',
    summary: 'see it all, then live; what you type is sent',
    args: [SESSION],
    help: `Ctrl-C or Ctrl-D detaches and says how to come back. It stops nothing.

Examples:
  ${COMMAND} attach last
  echo "Mail the report to the owner" | ${COMMAND} attach last`,
    isRemote: true,
    load: () => import('./verbs/attach.ts'),
  },
  {
    name: 'chat',
    summary: 'talk to one conversation; the work runs beside it',
    args: [['[message...]', 'what to say; without it, talk line by line']],
    options: [['--name <name>', 'of the conversation; default main'], KEY],
    help: `It starts tasks, passes on what you say to the one that it is for, and tells you what comes of them, also
unasked. It does no work itself, so it answers at once. Tasks are sessions: list, attach and inbox show them.
With a message it ends once that is answered; Ctrl-C ends the talk, and stops nothing.

Examples:
  ${COMMAND} chat
  ${COMMAND} chat "Report on February's invoices"
  ${COMMAND} chat "Now do the same for March" --json`,
    isRemote: true,
    load: () => import('./verbs/chat.ts'),
  },
  {
    name: 'list',
    summary: 'your sessions, newest first',
    args: [],
    options: [
      ['--phase <phase>', 'only those that are working, awaiting_input, awaiting_decision, stopped …'],
      ['--limit <n>', 'how many; default 20'],
    ],
    help: `Examples:
  ${COMMAND} list
  ${COMMAND} list --phase awaiting_decision`,
    isRemote: true,
    load: () => import('./verbs/list.ts'),
  },
  {
    name: 'inbox',
    summary: 'everything that awaits a person, over all your sessions',
    args: [],
    help: `What is asked, why, what is known, since when, until when, and what happens on each answer. Exit code 5 says
that something waits.

Examples:
  ${COMMAND} inbox
  ${COMMAND} inbox --json | jq '.items[] | select(.about == "approval")'`,
    isRemote: true,
    load: () => import('./verbs/inbox.ts'),
  },
  {
    name: 'inspect',
    summary: 'a session in one look: phase, ledger, live objects, questions',
    args: [SESSION],
    help: `The ledger shows each effect: what became of it, how often it was sent, and how that was known when the
service did not simply answer.

Examples:
  ${COMMAND} inspect last
  ${COMMAND} inspect last --json | jq .ledger`,
    isRemote: true,
    load: () => import('./verbs/inspect.ts'),
  },
  {
    name: 'pause',
    summary: 'hold a session where it is',
    args: [SESSION],
    help: 'Nothing new is started until it is resumed. Messages are still taken and keep their order.',
    isRemote: true,
    load: async () => (await import('./verbs/steer.ts')).steer('pause'),
  },
  {
    name: 'resume',
    summary: 'go on, also after a quarantine',
    args: [SESSION],
    help: `Example:\n  ${COMMAND} resume last`,
    isRemote: true,
    load: async () => (await import('./verbs/steer.ts')).steer('resume'),
  },
  {
    name: 'interrupt',
    summary: 'end the running turn and keep the session',
    args: [SESSION],
    help: 'What was sent already stays in the ledger. The session then awaits your next message.',
    isRemote: true,
    load: async () => (await import('./verbs/steer.ts')).steer('interrupt'),
  },
  {
    name: 'stop',
    summary: 'end a session; its live resources are gone when it returns',
    args: [SESSION],
    help: `The log stays, and reopen works.\n\nExample:\n  ${COMMAND} stop last`,
    isRemote: true,
    load: () => import('./verbs/stop.ts'),
  },
  {
    name: 'delete',
    summary: 'delete a session that is over, for good; a tombstone stays',
    args: [SESSION],
    options: [['--yes', 'do not ask']],
    help: `Only what is stopped or completed, with nothing open: no unknown effect, no question, no child at work. Log, files,
live objects and children go; the tombstone says what was deleted when.

Example:\n  ${COMMAND} stop ses_3f9k && ${COMMAND} delete ses_3f9k --yes`,
    isRemote: true,
    load: () => import('./verbs/delete.ts'),
  },
  {
    name: 'reopen',
    summary: 'open a stopped session again, with all that it kept',
    args: [SESSION],
    help: `Example:\n  ${COMMAND} reopen last && ${COMMAND} send last "One more thing"`,
    isRemote: true,
    load: async () => (await import('./verbs/steer.ts')).steer('reopen'),
  },
  {
    name: 'files',
    summary: 'the files of a session: list, show, diff, import, export, restore',
    args: [
      SESSION,
      ['[does]', 'list (default), show, diff, import, export or restore'],
      ['[what]', 'a path, a folder or a git remote'],
    ],
    options: [
      ['--at <event>', 'as they stood at this event of the log; by default at the newest'],
      ['--from <event>', 'of diff: since then; by default since the beginning of the last turn'],
    ],
    help: `Files are committed with each call that may have changed them, so any state of them can be looked at and brought
back. import and export name folders of the machine that the server runs on, which need not be this one, and are
for the server's own owner (not under OUTLAST_TOKENS). import comes on top of what is there; export wants a folder
that is not there or empty, or a git remote, where it makes a branch. restore keeps what is there as a commit.

Examples:
  ${COMMAND} files last
  ${COMMAND} files last show src/main.ts --at 40
  ${COMMAND} files last diff
  ${COMMAND} files last import ./project
  ${COMMAND} files last export git@example.com:team/project.git
  ${COMMAND} files last restore --at 40`,
    isRemote: true,
    load: () => import('./verbs/files.ts'),
  },
  {
    name: 'fork',
    summary: 'a new session on the past of this one; what is in flight stays',
    args: [SESSION, ['[message...]', 'what to say to the fork; "-" reads it from stdin']],
    options: [
      ['--at <seq>', 'the last event that they share; by default the newest'],
      ['--title <title>', 'how lists call it'],
      KEY,
      DETACH,
    ],
    help: `It has the transcript, the files and the live objects of that place, as its own. Effects, questions and timers that
were open there, and messages that had not been read, stay with the original; the fork does nothing at all before
somebody speaks to it. With a message it is watched until it rests.

Examples:
  ${COMMAND} fork last
  ${COMMAND} fork last "Do April instead"
  ${COMMAND} fork ses_3f9k --at 120 --title "other way"`,
    isRemote: true,
    load: () => import('./verbs/fork.ts'),
  },
  {
    name: 'at',
    summary: 'a session as it stood at an event; reads only',
    args: [SESSION, ['<seq>', 'the event, as follow --json and the page number them']],
    help: `Phase, ledger, open questions and live objects as they were once that event was in the log. To go on from there:
${COMMAND} fork SESSION --at SEQ.

Examples:
  ${COMMAND} at last 40
  ${COMMAND} at last 40 --json | jq .ledger`,
    isRemote: true,
    load: () => import('./verbs/at.ts'),
  },
  {
    name: 'ask',
    summary: 'a question about the work; the task does not notice',
    args: [SESSION, ['<question...>', 'what to ask; "-" reads it from stdin']],
    help: `Its model answers from what it knows by now. Transcript, course and cost of the task stay as they are.

Examples:
  ${COMMAND} ask last "How far are you?"
  ${COMMAND} ask ses_3f9k "Which account did you use, and why?"`,
    isRemote: true,
    load: () => import('./verbs/ask.ts'),
  },
  {
    name: 'recall',
    summary: 'what its log says: by words, by id, by kind and time',
    args: [SESSION, ['[words...]', 'a question, or its words and exact values; "-" reads it from stdin']],
    options: [
      ['--id <id>', 'the original of a citation, whole: "#41", or "#41.2" for a part'],
      [
        '--kind <kind>',
        'only these: message, reply, call, result, output, response, progress, decision, note',
      ],
      ['--from <time>', 'not before this day or instant: 2031-04-05, 2031-04-05T12:00Z'],
      ['--to <time>', 'not after it'],
    ],
    help: `Each passage is cited by its place in the log. Rules that a person gave come first. Without words or an id: the
newest passages, a line each. The model has the same as its tool "recall". Changes nothing.

Examples:
  ${COMMAND} recall last "which account was INV-2031-0042 booked on?"
  ${COMMAND} recall last --id "#41" --json | jq -r '.passages[0].text' > original.txt
  ${COMMAND} recall last --kind message --from 2031-04-01`,
    isRemote: true,
    load: () => import('./verbs/recall.ts'),
  },
  {
    name: 'decide',
    summary: 'answer an open question: approve, reject, or say what happened',
    args: [
      SESSION,
      ['<decision>', 'as inspect shows it: d1'],
      ['<answer>', 'approve, reject, done, not-done, or answer'],
      ['[text...]', 'words to go with it'],
    ],
    options: [['--digest <digest>', 'of the action that you have seen; refused when it is another one']],
    help: `The first answer stands; a second one is refused (exit code 4).

Examples:
  ${COMMAND} decide last d1 approve
  ${COMMAND} decide last d1 reject "not before Friday"
  ${COMMAND} decide last d1 done
  ${COMMAND} decide last d1 not-done "I looked into the outbox: it is not there"
  ${COMMAND} decide last d2 answer "The account is Northwind"`,
    isRemote: true,
    load: () => import('./verbs/decide.ts'),
  },
  {
    name: 'budget',
    summary: 'what your sessions may use and have used; raise it',
    args: [
      ['[session]', 'an id, the beginning of one, or "last"; without one: all your sessions together'],
      ['[limits]', 'usd=5,tokens=200000,steps=100,minutes=60; what is not named stays, none lifts one'],
    ],
    options: [
      ['--turn <limits>', 'what each turn of the session may use'],
      ['--owner-set <limits>', 'what all your sessions together may use; none lifts all'],
    ],
    help: `At a limit a session rests as it is and says why. Once the limit is raised it goes on from that very step.
Prices come from a snapshot and from prices.json in the data folder; a model without a price is never taken
for free: under a limit in money it is not called.

Examples:
  ${COMMAND} budget
  ${COMMAND} budget last usd=5
  ${COMMAND} budget last --turn steps=20
  ${COMMAND} budget --owner-set usd=20,minutes=600`,
    isRemote: true,
    load: () => import('./verbs/budget.ts'),
  },
  {
    name: 'stats',
    summary: 'where your sessions rest, which guesses about them were wrong, and what that cost',
    args: [],
    help: `Kept for nothing: kept open, and ended or archived without a second instruction. Closed too early: a one-shot
that was done and got a follow-up. It was reopened with all it had; what that took is counted.

Example:
  ${COMMAND} stats --json`,
    isRemote: true,
    load: () => import('./verbs/stats.ts'),
  },
  {
    name: 'slots',
    summary: 'how many of your sessions may work at once, and who waits',
    args: [['[n]', 'from now on so many; "default" goes back to the number of the server']],
    help: `A session that waits for you, for a decision or for an instant holds no slot. One that finds them all taken waits
its turn, at a place that list shows, and takes messages meanwhile.

Examples:
  ${COMMAND} slots
  ${COMMAND} slots 5
  ${COMMAND} slots default`,
    isRemote: true,
    load: () => import('./verbs/slots.ts'),
  },
  {
    name: 'report',
    summary: 'what survived the last loss, what did not, and how that is known',
    args: [SESSION],
    help: `The model reads the same report before its next step. Asked again after more evidence has come in, it says
more. Changes nothing.

Example:
  ${COMMAND} report last`,
    isRemote: true,
    load: () => import('./verbs/report.ts'),
  },
  {
    name: 'verify',
    summary: 'replay a session and compare it bit for bit; changes nothing',
    args: [SESSION],
    help: 'Exit code 1 when the log breaks an invariant, or the replayed sandbox is not the one that is kept.',
    isRemote: true,
    load: () => import('./verbs/verify.ts'),
  },
  {
    name: 'break',
    summary: 'let workers die at every boundary and judge what people get, under eight strategies',
    args: [],
    options: [
      ['--quick', 'a short look, under a minute'],
      ['--rounds <n>', 'runs of each cell; default 3, with --quick 1'],
      ['--seed <seed>', 'another seed'],
      [
        '--strategy <names>',
        'only these: outlast, restart, replay, retry, skip, key, query, ask, or an ablation',
      ],
      ['--service <names>', 'only these: keyed, expiring, queryable, lagging, cancelable, blind, batch'],
      ['--boundary <names>', 'only these, such as late,applied'],
      ['--with <file>', 'your own tools instead of the built-in services'],
      ['--no-kill', 'without real processes and SIGKILL'],
      ['--html <file>', 'the results as a page with heat maps'],
      ['--out <file>', 'the results as JSON'],
      ['--predictions', 'what theory says, as tables; nothing is run'],
    ],
    help: `The judge reads the services' own books. Exit code 1 when anything was done twice, lost or told wrongly under
Outlast, or when a strategy that theory calls wrong is never seen to be.

Examples:
  ${COMMAND} break --quick
  ${COMMAND} break --html break.html
  ${COMMAND} break --with ./my-tools.mjs --strategy outlast,retry`,
    isRemote: false,
    load: () => import('./verbs/break.ts'),
  },
  {
    name: 'demo',
    summary: 'the main job, narrated, through three kills',
    args: [],
    options: [['--keep', 'leave its data folder for a look']],
    help: 'Starts a server of its own, in a folder of its own, and leaves nothing behind.',
    isRemote: false,
    load: () => import('./verbs/demo.ts'),
  },
];
