// Owns: in which words a history says what it will be asked about, and in which words it is asked. Two halves that share
// none: what is tuned is tuned on one of them, and what is reported is the other.

export const HALVES = {
  tuned: {
    facts: [
      {
        say: ({ company, topic, person }) => `The ${topic} contact at ${company} is ${person}.`,
        ask: ({ company, topic }) => `Who is the ${topic} contact at ${company}?`,
      },
      {
        say: ({ company, person, city }) => `${person} of ${company} has moved to the office in ${city}.`,
        ask: ({ company, person }) => `In which city does ${person} of ${company} work?`,
      },
    ],
    talks: [
      {
        say: ({ city, event }) => `Which hall did we take for the ${event} in ${city}?`,
        answer: ({ hall }) => `The ${hall}. It is paid.`,
        ask: ({ city, event }) => `Which hall is it for the ${event} in ${city}?`,
      },
    ],
    values: [
      {
        row: ({ id, company, account, amount }) => ({
          invoice: id,
          client: company,
          account,
          total: amount,
          state: 'booked',
        }),
        ask: ({ id }) => `On which account was ${id} booked?`,
      },
      {
        row: ({ hash, service, host }) => ({ commit: hash, service, host, state: 'deployed' }),
        ask: ({ hash }) => `Where did commit ${hash} go?`,
      },
    ],
    updates: [
      {
        first: ({ service, setting, value }) => `Set the ${setting} of ${service} to ${value}.`,
        changed: ({ service, setting, value }) => `The ${setting} of ${service} is ${value} from now.`,
        ask: ({ service, setting }) => `What is the ${setting} of ${service}?`,
      },
    ],
    hops: [
      {
        first: ({ company, topic, person }) => `The ${topic} contact at ${company} is ${person}.`,
        second: ({ person, phone }) => `${person} has the number ${phone}.`,
        ask: ({ company, topic }) => `What is the number of the ${topic} contact at ${company}?`,
      },
    ],
    rules: [
      ['Always give amounts in Swiss francs.', 'Write the summary for {company}.'],
      ['Never mail a client without asking me first.', 'Tell {company} that their parcel is late.'],
      ['When you deploy, run the smoke test twice.', 'Bring {service} to the newest version.'],
      ['From now on put a table at the top of each report.', 'How did {company} do last quarter?'],
      ['You must not touch the archive folder.', 'Clean up after the {service} job.'],
      ['Make sure that every date is written as 2031-04-05.', 'List the visits to {city}.'],
    ],
    wishes: [
      ['I prefer calls after four in the afternoon.', 'Find a slot with {person}.'],
      ['I like short answers without a greeting.', 'How is {service} doing?'],
      ['I hate early flights.', 'Book the trip to {city}.'],
      ['My favourite colour for charts is teal.', 'Plot the totals of {company}.'],
    ],
    days: [({ day }) => `What did I ask for on ${day}?`],
  },
  held: {
    facts: [
      {
        say: ({ company, topic, person }) => `At ${company} it is ${person} who looks after ${topic}.`,
        ask: ({ company, topic }) => `Whom do I write to about ${topic} at ${company}?`,
      },
      {
        say: ({ company, person, city }) => `${company}: ${person} sits in ${city} these days.`,
        ask: ({ company, person }) => `Where do I find ${person} from ${company}?`,
      },
    ],
    talks: [
      {
        say: ({ city, event }) => `Did we settle on a place for the ${city} ${event}?`,
        answer: ({ hall }) => `Yes: ${hall}, and the deposit has left.`,
        ask: ({ city, event }) => `What place did we choose for the ${event} in ${city}?`,
      },
    ],
    values: [
      {
        row: ({ id, company, account, amount }) => ({
          doc: id,
          partner: company,
          ledger: account,
          gross: amount,
          done: true,
        }),
        ask: ({ id }) => `Which ledger does ${id} stand in?`,
      },
      {
        row: ({ hash, service, host }) => ({ rev: hash, unit: service, node: host, rolled_out: true }),
        ask: ({ hash }) => `What node runs revision ${hash}?`,
      },
    ],
    updates: [
      {
        first: ({ service, setting, value }) => `Please take ${value} as the ${setting} for ${service}.`,
        changed: ({ service, setting, value }) =>
          `Change of plan, ${service} gets ${value} as its ${setting}.`,
        ask: ({ service, setting }) => `Which ${setting} does ${service} have at the moment?`,
      },
    ],
    hops: [
      {
        first: ({ company, topic, person }) => `At ${company} it is ${person} who looks after ${topic}.`,
        second: ({ person, phone }) => `You reach ${person} under ${phone}.`,
        ask: ({ company, topic }) =>
          `Under which number do I reach whoever looks after ${topic} at ${company}?`,
      },
    ],
    rules: [
      ['Every figure that leaves the house is in euros, whoever asks.', 'Draft the letter to {company}.'],
      [
        'Under no circumstances is the ledger of last year to be edited.',
        'Correct the typo in the books of {company}.',
      ],
      ['Whenever a job fails, keep its log for me.', 'Restart {service}.'],
      ['In future, sign letters with both our names.', 'Thank {person} for the visit.'],
      ['No invoice goes out unless Dana has seen it.', 'Bill {company} for May.'],
      ['Going forward, quote the source next to each number.', 'What is the market in {city} like?'],
    ],
    wishes: [
      ['I would rather have the window seat on trains.', 'Get me to {city} on Monday.'],
      ['Mornings suit me best for anything with numbers.', 'When do we go through the books of {company}?'],
      ['I am not a fan of pie charts.', 'Show how {service} spends its time.'],
      ['I am used to reading prices without cents.', 'What do we owe {company}?'],
    ],
    days: [({ day }) => `What was it that I wanted on ${day}?`],
  },
};

export const TOPICS = ['billing', 'shipping', 'security', 'hiring', 'press', 'travel', 'training', 'repairs'];
export const EVENTS = ['offsite', 'fair', 'workshop', 'summit', 'launch', 'audit', 'retreat', 'hearing'];
export const CITIES =
  'Bern Lyon Porto Gdansk Turin Ghent Malmo Bilbao Graz Leeds Basel Ulm Tartu Cork Split'.split(' ');
export const SETTINGS = [
  'deploy window',
  'retry limit',
  'cache size',
  'log level',
  'owner',
  'backup hour',
  'quota',
];
export const FIRST =
  'Ann Ben Cleo Dirk Ella Finn Gita Hugo Ines Jan Kira Luca Mona Nils Olga Piet Rosa Sven Tara Uwe'.split(
    ' ',
  );
const SYLLABLES = 'nor val tem kar lin dor mis ros bel gan tor fel har mon sil per ost wen cal dun'.split(
  ' ',
);

export const capital = (word) => word[0].toUpperCase() + word.slice(1);
export const coined = (r, count = 2) =>
  capital(Array.from({ length: count }, () => r.pick(SYLLABLES)).join(''));
