/**
 * The labelled requests of the evaluation: what a person says, and what a good conversation does with it. None of them
 * hints at keeping anything open: that is for the model to see. Read them, and judge the labels before the figures.
 */

export interface Given {
  readonly title: string;
  readonly request: string;
  readonly keepOpen: boolean;
  /** It works still; else it has answered. */
  readonly isBusy?: true;
}

export interface Wanted {
  /** Tasks that are started; for each whether it stays open. */
  readonly starts?: readonly ('open' | 'one-shot')[];
  /** Titles of tasks that are told something. */
  readonly tells?: readonly string[];
  readonly stops?: readonly string[];
}

export interface Case {
  readonly group: string;
  readonly says: string;
  readonly given: readonly Given[];
  readonly wanted: Wanted;
}

const OPEN: Wanted = { starts: ['open'] };
const ONCE: Wanted = { starts: ['one-shot'] };

const INVOICES: Given = {
  ...{ title: 'February invoices', request: "Report on February's invoices by customer", keepOpen: true },
};
const DECK: Given = {
  ...{ title: 'Board slides', request: "Draft the slides for Monday's board meeting", keepOpen: true },
};
const TRIP: Given = {
  ...{ title: 'Lisbon trip', request: 'Plan four days in Lisbon in May for two people', keepOpen: true },
};
const LEAK: Given = {
  ...{
    title: 'Memory leak',
    request: 'Find the memory leak in the upload service',
    keepOpen: true,
    isBusy: true,
  },
};
const RATE: Given = {
  ...{ title: 'Euro rate', request: 'What is the euro worth in dollars today?', keepOpen: false },
};
const ALL = [INVOICES, DECK, TRIP, LEAK, RATE];

const group = (
  name: string,
  given: readonly Given[],
  cases: readonly (readonly [says: string, wanted: Wanted])[],
): readonly Case[] => cases.map(([says, wanted]) => ({ group: name, given, says, wanted }));

const to = ({ title }: Given): Wanted => ({ tells: [title] });
const stop = (...tasks: readonly Given[]): Wanted => ({ stops: tasks.map(({ title }) => title) });

export const CASES: readonly Case[] = [
  ...group(
    'more may come',
    [],
    [
      ['Walk me through setting up two-factor login on my account.', OPEN],
      ['Start with the first step of migrating our wiki to the new server.', OPEN],
      ["Report on February's invoices.", OPEN],
      ['Draft a cover letter for the analyst job at Northwind.', OPEN],
      ['Help me prepare for my interview on Thursday: ask me the first question.', OPEN],
      ['Set up a test environment with the staging data.', OPEN],
      ['Open the January sheet and show me the first ten rows.', OPEN],
      ['Sketch a logo for a bakery called Crumb.', OPEN],
      ['Debug why the nightly export fails.', OPEN],
      ['Write the opening paragraph of a story about a lighthouse keeper.', OPEN],
      ['Plan a weekend in Porto.', OPEN],
      ['Go through my inbox with me, beginning with the oldest mail.', OPEN],
      ['Connect to the reporting database and list the tables.', OPEN],
      ['Design a training plan for a half marathon in October.', OPEN],
      ['Build me a small dashboard of open tickets.', OPEN],
      ['Review the first chapter of my thesis.', OPEN],
      ['Log in to the supplier portal and show me what is on the front page.', OPEN],
      ['Make a first version of the budget for next year.', OPEN],
      ['Teach me the basics of chess, one move at a time.', OPEN],
      ['Cook with me tonight: tell me the first thing to do for a risotto.', OPEN],
      ['Translate the first page of this contract, and let us see how it reads.', OPEN],
    ],
  ),
  ...group(
    'done in one pass',
    [],
    [
      ['What is the capital of Mongolia?', ONCE],
      ['How many customers do we have?', ONCE],
      ['Is the website up right now?', ONCE],
      ['Convert 250 US dollars to euros.', ONCE],
      ['When does the post office on Main Street close today?', ONCE],
      ['What is the weather in Oslo?', ONCE],
      ['How old is the Eiffel Tower?', ONCE],
      ['Look up the phone number of the Hotel Astoria in Vienna.', ONCE],
      ['What was the closing price of Acme stock yesterday?', ONCE],
      ['Count the words in the file readme.txt.', ONCE],
      ['Which version of Node runs on the build server?', ONCE],
      ['What time is it in Tokyo?', ONCE],
      ['Find out who won the 1998 World Cup.', ONCE],
      ['Check whether invoice 4711 has been paid.', ONCE],
      ['How far is it from Berlin to Prague?', ONCE],
      ['What does the abbreviation HVAC mean?', ONCE],
      ['Tell me the sum of all open orders.', ONCE],
      ['Ping the backup server.', ONCE],
      ['Who is the author of The Leopard?', ONCE],
      ['What is the size of the largest file in the archive folder?', ONCE],
      ['Is 2027 a leap year?', ONCE],
    ],
  ),
  ...group('belongs to one of several', ALL, [
    ['Now do the same for March.', to(INVOICES)],
    ['Add a slide about hiring.', to(DECK)],
    ['Is there a train from the airport?', to(TRIP)],
    ['Look at the thumbnail code first.', to(LEAK)],
    ['Break it down by country as well.', to(INVOICES)],
    ['Make the second slide shorter.', to(DECK)],
    ['We would like a day at the beach.', to(TRIP)],
    ['It only happens with files over a gigabyte.', to(LEAK)],
    ['And which customer owes us most?', to(INVOICES)],
    ['Use our new company colours.', to(DECK)],
    ['Find us a restaurant with fado.', to(TRIP)],
    ['Mail the report to the accountant.', to(INVOICES)],
    ['The meeting has been moved to Tuesday; put that on the title page.', to(DECK)],
    ['My mother comes along, so there are three of us.', to(TRIP)],
    ['The heap dump from this morning is in the shared folder.', to(LEAK)],
    ['And in pounds?', to(RATE)],
  ]),
  ...group(
    'a correction without a name',
    [INVOICES],
    [
      ['No, without the test customer.', to(INVOICES)],
      ['That is the wrong year.', to(INVOICES)],
      ['I meant net, not gross.', to(INVOICES)],
      ['Sort it the other way round.', to(INVOICES)],
      ['Two of them are missing.', to(INVOICES)],
      ['Hm, shorter please.', to(INVOICES)],
      ['Not in dollars.', to(INVOICES)],
      ['Try again, the service is back.', to(INVOICES)],
      ['You counted the credit notes.', to(INVOICES)],
      ['The name of the second customer is misspelt.', to(INVOICES)],
    ],
  ),
  ...group(
    'remember this',
    [],
    [
      ['Remember this procedure, and try it now: open the portal, export the list, rename it by date.', OPEN],
      ['Learn how I file receipts: by vendor, then by month. Do the ones from last week.', OPEN],
      ['This is how we write release notes: three bullets, no adjectives. Write those for 2.4.', OPEN],
      ['Memorise the steps for closing the books, and run through them with April.', OPEN],
      ['Our onboarding goes: account, laptop, badge. Take note, and do it for Ana Silva.', OPEN],
    ],
  ),
  ...group('over, or not wanted', ALL, [
    ['Stop looking for the leak.', stop(LEAK)],
    ['We are not going to Lisbon after all.', stop(TRIP)],
    ['The slides are fine, that is all for them.', stop(DECK)],
    ['I am done with the invoices, thanks.', stop(INVOICES)],
    ['Forget the trip and the slides.', stop(TRIP, DECK)],
    ['The bug has been found by somebody else, so never mind.', stop(LEAK)],
    ['Cancel the board presentation.', stop(DECK)],
  ]),
  ...group(
    'one task or several',
    [],
    [
      ['Load the sales table, clean it, and chart it by region.', OPEN],
      ['Write a product description, then make a German version of it.', OPEN],
      ['Rename the module, fix its imports, and run its tests.', OPEN],
      ['What is the weather in Oslo, and who won the 1998 World Cup?', { starts: ['one-shot', 'one-shot'] }],
      [
        'Draft a toast for my sister, and separately plan my garden for spring.',
        { starts: ['open', 'open'] },
      ],
      [
        'Check whether invoice 4711 is paid, and start on a redesign of our home page.',
        { starts: ['one-shot', 'open'] },
      ],
    ],
  ),
  ...group('no work at all', ALL, [
    ['Thanks!', {}],
    ['What is going on at the moment?', {}],
    ['Which of them are finished?', {}],
  ]),
];
