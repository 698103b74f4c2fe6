// The life of the server: start, restart, stop, and what to tell the user when it fails.

import { commands, EventEmitter, extensions, OutputChannel, window, workspace } from "vscode";
import {
  CloseAction,
  ErrorAction,
  ErrorHandler,
  ExecuteCommandRequest,
  LanguageClient,
  LanguageClientOptions,
  RevealOutputChannelOn,
  State,
} from "vscode-languageclient/node";

import { Command, serverCommand } from "./command";
import { Failure, failure, ServerProcess } from "./process";

export type Condition = "stopped" | "starting" | "ready" | "failed";

/** In milliseconds: how long a server may take to leave before it is killed. */
const PATIENCE = 2000;
const RESTARTS = 4;

export class Server {
  condition: Condition = "stopped";
  /** What went wrong, while the condition is "failed". */
  problem = "";
  /** The command that started the server last. */
  command: string[] | undefined;
  client: LanguageClient | undefined;

  private process: ServerProcess | undefined;
  private latest: Promise<void> = Promise.resolve();
  private readonly changed = new EventEmitter<Condition>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly output: OutputChannel) {}

  get version(): string | undefined {
    return this.client?.isRunning() ? this.client.initializeResult?.serverInfo?.version : undefined;
  }

  /** Start the server, and first stop the one that runs; calls are handled one after the other. */
  restart(): Promise<void> {
    this.latest = this.latest.then(() => this.end()).then(() => this.start());
    return this.latest;
  }

  stop(): Promise<void> {
    this.latest = this.latest.then(() => this.end());
    return this.latest;
  }

  /** Run a command of the server; undefined while it is not running. */
  async ask<Answer>(command: string, ...given: unknown[]): Promise<Answer | undefined> {
    if (!this.client?.isRunning()) {
      void window.showWarningMessage("The devicelint server is not running.");
      return undefined;
    }
    const request = { command, arguments: given };
    return (await this.client.sendRequest(ExecuteCommandRequest.type, request)) as Answer;
  }

  private async end(): Promise<void> {
    const { client, process } = this;
    this.client = this.process = undefined;
    if (client?.needsStop()) {
      await client.dispose(PATIENCE).catch((reason: unknown) => { this.log(String(reason)); });
    }
    await process?.end(PATIENCE);
    this.become("stopped");
  }

  private async start(): Promise<void> {
    this.become("starting");
    const command = await serverCommand();
    this.command = command.words;
    this.log(`starting: ${command.words.join(" ")}`);
    try {
      await this.connect(command);
    } catch (reason) {
      this.fail(failure(command, "", reason));
    }
  }

  private async connect(command: Command): Promise<void> {
    const run = () => ServerProcess.start(command, (text) => {
      this.output.append(text);
    });
    const process = await run();
    let first: ServerProcess | undefined = process;
    const launch = async () => {
      if (first) {
        first = undefined;
        return process.transports;
      }
      this.process = await run();
      this.process.letClientFollow();
      return this.process.transports;
    };
    const client = new LanguageClient("devicelint", "devicelint", launch, this.options());
    const ended = process.ended.then((status) => Promise.reject(new Error(`exit status ${status}`)));
    try {
      await Promise.race([client.start(), ended]);
    } catch (reason) {
      await process.end(PATIENCE);
      this.fail(failure(command, process.stderr, reason));
      return;
    } finally {
      ended.catch(() => undefined);
    }
    process.letClientFollow();
    this.client = client;
    client.onDidChangeState(({ newState }) => { this.follow(client, newState); });
    this.log(`ready: devicelint ${this.version}`);
    this.become("ready");
  }

  private options(): LanguageClientOptions {
    return {
      documentSelector: [
        { scheme: "file", language: "python" },
        { scheme: "untitled", language: "python" },
        { scheme: "vscode-notebook-cell", language: "python" },
      ],
      initializationOptions: JSON.parse(JSON.stringify(workspace.getConfiguration("devicelint"))),
      // Tells the server that settings changed; it then asks for them, folder by folder.
      // eslint-disable-next-line @typescript-eslint/no-deprecated
      synchronize: { configurationSection: "devicelint" },
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      outputChannel: this.output,
      errorHandler: this.errorHandler(),
      // The reason is shown by `fail`, in words that help.
      initializationFailedHandler: () => false,
    };
  }

  /** A server that never started stays down; one that crashes is restarted a few times. */
  private errorHandler(): ErrorHandler {
    let usual: ErrorHandler | undefined;
    const handler = () => (usual ??= this.client?.createDefaultErrorHandler(RESTARTS));
    return {
      error: (...given) => handler()?.error(...given) ?? { action: ErrorAction.Continue },
      closed: () => handler()?.closed() ?? { action: CloseAction.DoNotRestart, handled: true },
    };
  }

  /** The client restarts a server that crashes, and gives up after some times. */
  private follow(client: LanguageClient, state: State): void {
    if (client !== this.client) {
      return;
    }
    if (state === State.Stopped) {
      this.problem = "The devicelint server has stopped.";
    }
    const named = { [State.Starting]: "starting", [State.Running]: "ready", [State.Stopped]: "failed" };
    this.become(named[state] as Condition);
  }

  private fail({ message, install }: Failure): void {
    this.problem = message;
    this.log(message);
    this.become("failed");
    void this.offerHelp(message, install);
  }

  private async offerHelp(message: string, install: string | undefined): Promise<void> {
    const inTerminal = "Install in Terminal";
    const select = "Select Interpreter";
    const show = "Show Output";
    const hasPython = extensions.getExtension("ms-python.python") !== undefined;
    const offered = [...(install ? [inTerminal] : []), ...(hasPython ? [select] : []), show];
    const chosen = await window.showErrorMessage(message, ...offered);
    if (chosen === inTerminal && install) {
      const terminal = window.createTerminal("devicelint");
      terminal.show();
      terminal.sendText(install);
    } else if (chosen === select) {
      await commands.executeCommand("python.setInterpreter");
    } else if (chosen === show) {
      this.output.show();
    }
  }

  private become(condition: Condition): void {
    this.condition = condition;
    this.changed.fire(condition);
  }

  private log(line: string): void {
    this.output.appendLine(`[${new Date().toISOString()}] ${line}`);
  }
}
