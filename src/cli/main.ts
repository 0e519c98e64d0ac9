/**
 * The command `outlast`: finds the verb, runs it, ends with its exit code.
 *
 * C1  Only the verb that is asked for is loaded; `--help` loads none.
 * C2  Every verb takes `--json`; then the last line of stdout is one JSON object, also when it fails.
 */

import { Command, CommanderError } from 'commander';
import { complain, EXIT, type ExitCode, UsageError } from './exit.ts';
import { COMMAND } from './name.ts';
import { onClosedPipe, terminalOf } from './terminal.ts';
import type { Options, VerbSpec } from './verb.ts';
import { VERBS } from './verbs.ts';
import { VERSION } from './version.ts';

const ABOUT = `Agent sessions that outlast the process that runs them.

A session takes messages in every state, keeps its live objects, and does nothing twice:
  ${COMMAND} serve
  ${COMMAND} start --persist "Report on February's invoices"
  ${COMMAND} send last "Now do the same for March"
  ${COMMAND} stop last`;

const MORE = `
A session is named by its id, by the beginning of its id, or by "last" for the newest.
Exit codes: 0 ok, 1 failed, 2 usage, 3 no server, 4 refused, 5 it rests on a decision.
Environment: OUTLAST_URL, OUTLAST_TOKEN, OUTLAST_DATA, NO_COLOR; for the server see: ${COMMAND} serve --help`;

// A reader that has seen enough (`| head`) is no error; what runs at the server goes on without this command.
onClosedPipe(() => process.exit(EXIT.ok));

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  const program = new Command(COMMAND)
    .description(ABOUT)
    .version(VERSION, '-V, --version')
    .addHelpText('after', MORE)
    .helpCommand(false)
    .configureHelp({ subcommandTerm: termOf })
    .configureOutput({ writeErr: () => {} })
    .exitOverride();
  for (const verb of VERBS) program.addCommand(command(verb, (ended) => (code = ended)));
  if (argv.length === 0) {
    program.outputHelp();
    return EXIT.ok;
  }
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    if (process.env.OUTLAST_DEBUG) console.error(error);
    return complain(usageOf(error, argv), terminalOf({ json: argv.includes('--json') }));
  }
}

function command(verb: VerbSpec, end: (code: ExitCode) => void): Command {
  const built = new Command(verb.name)
    .summary(verb.summary)
    .description(`${capital(verb.summary)}.`)
    .addHelpText('after', `\n${verb.help}`)
    .configureOutput({ writeErr: () => {} })
    .exitOverride();
  for (const [form, about] of verb.args) built.argument(form, about);
  for (const [flags, about, many] of verb.options ?? []) {
    if (many) built.option(flags, about, (value: string, before: string[] = []) => [...before, value]);
    else built.option(flags, about);
  }
  if (verb.isRemote) {
    built
      .option('--url <url>', 'the server (OUTLAST_URL; default: the one of this data folder)')
      .option('--token <token>', 'who you are, where the server wants to know (OUTLAST_TOKEN)')
      .option('--data <folder>', 'the data folder whose server is meant (OUTLAST_DATA; default ./.outlast)');
  }
  built.option('--json', 'the result as JSON on the last line of stdout');
  return built.action(async () => {
    const options = built.opts<Options>();
    const { run } = await verb.load();
    end(await run({ args: built.processedArgs.flat() as string[], options, terminal: terminalOf(options) }));
  });
}

/** `send <session> <message...>`: the options stand in the verb's own help. */
function termOf(verb: Command): string {
  const args = verb.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [verb.name(), ...args].join(' ');
}

/** What commander refuses is a wrong use of ours. */
function usageOf(error: unknown, argv: readonly string[]): unknown {
  if (!(error instanceof CommanderError)) return error;
  const words = [COMMAND, ...VERBS.map(({ name }) => name).filter((name) => name === argv[0]), '--help'];
  return new UsageError(error.message.replace(/^error: /, ''), `see: ${words.join(' ')}`);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
