// A thin client: the server does the analysis, this starts it and shows its state.

import { commands, ExtensionContext, window, workspace } from "vscode";

import { adoptFile, fixFile, goToMove } from "./actions";
import { onInterpreterChange } from "./command";
import { registerRulePages } from "./rules";
import { Server } from "./server";
import { StatusBar } from "./status";

/** Settings that take effect only with a new server; all others are sent to the one that runs. */
const NEEDS_RESTART = ["path", "interpreter", "args", "run"].map((name) => `devicelint.${name}`);

let server: Server | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const output = window.createOutputChannel("devicelint");
  const running = new Server(output);
  server = running;
  context.subscriptions.push(
    output,
    new StatusBar(running),
    registerRulePages(running),
    commands.registerCommand("devicelint.fixFile", () => fixFile(running)),
    commands.registerCommand("devicelint.adoptFile", () => adoptFile(running)),
    commands.registerCommand("devicelint.goToMove", () => goToMove(running)),
    commands.registerCommand("devicelint.restart", () => running.restart()),
    commands.registerCommand("devicelint.showOutput", () => { output.show(); }),
    commands.registerCommand("devicelint.showVersion", () => showVersion(running)),
    workspace.onDidChangeConfiguration((event) => {
      if (NEEDS_RESTART.some((setting) => event.affectsConfiguration(setting))) {
        void running.restart();
      }
    }),
    await onInterpreterChange(() => void running.restart()),
  );
  await running.restart();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
  server = undefined;
}

async function showVersion(running: Server): Promise<void> {
  const version = running.version;
  const command = running.command?.join(" ");
  if (version) {
    await window.showInformationMessage(`devicelint ${version}, started with: ${command}`);
  } else {
    await window.showWarningMessage("The devicelint server is not running.");
  }
}
