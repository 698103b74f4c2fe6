// The server's process, and the reason why it ended.

import { ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { PassThrough } from "node:stream";

import { MessageTransports, StreamMessageReader, StreamMessageWriter } from "vscode-languageclient/node";

import type { Command } from "./command";

const STDERR_KEPT = 4096;

export class ServerProcess {
  /** Settles when the process has ended, with its exit status. */
  readonly ended: Promise<number | null>;
  /** The end of what it wrote to standard error. */
  stderr = "";

  // The client holds these streams, not those of the process: see `letClientFollow`.
  private readonly requests = new PassThrough();
  private readonly answers = new PassThrough();

  private constructor(
    private readonly child: ChildProcessWithoutNullStreams,
    log: (text: string) => void,
  ) {
    this.ended = new Promise((settle) => child.once("close", settle));
    child.stdout.pipe(this.answers, { end: false });
    this.requests.pipe(child.stdin);
    child.stdin.on("error", () => undefined); // What matters is that the process ends.
    child.stderr.on("data", (data: Buffer) => {
      log(data.toString());
      this.stderr = (this.stderr + data.toString()).slice(-STDERR_KEPT);
    });
  }

  /** Start the command; rejects where there is no such program. */
  static start(command: Command, log: (text: string) => void): Promise<ServerProcess> {
    const { words: [program = "", ...args], folder } = command;
    // Without this, Python imports `types.py` of the workspace in place of its own module.
    const env = { ...process.env, PYTHONSAFEPATH: "1" };
    return new Promise((settle, reject) => {
      // A folder that does not exist is reported as though the program did not.
      const cwd = folder && existsSync(folder) ? folder : undefined;
      const child = spawn(program, args, { cwd, env });
      child.once("error", reject);
      child.once("spawn", () => { settle(new ServerProcess(child, log)); });
    });
  }

  get transports(): MessageTransports {
    return { reader: new StreamMessageReader(this.answers), writer: new StreamMessageWriter(this.requests) };
  }

  /**
   * Let the client notice when the process ends.
   *
   * While the client starts, only `ended` tells: a client that loses its connection then takes
   * itself for started.
   */
  letClientFollow(): void {
    void this.ended.then(() => {
      this.answers.end();
      this.requests.destroy();
    });
  }

  async end(patience: number): Promise<void> {
    const timer = setTimeout(() => this.child.kill(), patience);
    await this.ended;
    clearTimeout(timer);
  }
}

export interface Failure {
  message: string;
  /** The command that installs what is missing, if that is the problem. */
  install?: string;
}

/** Why a command does not start the server: from what it wrote, or from the error of the start. */
export function failure(command: Command, stderr: string, reason: unknown): Failure {
  const [program = ""] = command.words;
  const install = `${quoted(command.interpreter ?? "python")} -m pip install "devicelint[server]"`;
  if (isMissing(reason)) {
    const message = command.interpreter !== undefined || program !== "devicelint"
      ? `devicelint cannot start: there is no program ${program}.`
      : "devicelint cannot start: no interpreter is selected, and devicelint is not on PATH.";
    return { message, install: command.interpreter ? undefined : install };
  }
  if (/No module named '?devicelint\b/.test(stderr)) {
    return { message: `devicelint is not installed in ${program}. Run: ${install}`, install };
  }
  if (stderr.includes("devicelint[server]")) {
    return { message: `devicelint[server] is not installed in ${program}. Run: ${install}`, install };
  }
  const written = stderr.trim();
  const last = written ? written.split("\n").at(-1) : String(reason);
  return { message: `The devicelint server does not start (${command.words.join(" ")}): ${last}` };
}

function isMissing(reason: unknown): boolean {
  return (reason as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
}

function quoted(path: string): string {
  return /\s/.test(path) ? `"${path}"` : path;
}
