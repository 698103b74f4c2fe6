// A thin client: all that is known of devices, the server knows.

import { commands, ExtensionContext, Uri, window, workspace } from "vscode";
import {
  ExecuteCommandRequest,
  LanguageClient,
  LanguageClientOptions,
  Location,
  RevealOutputChannelOn,
} from "vscode-languageclient/node";

import { serverCommand } from "./server";

const STARTS_ANEW = ["devicelint.path", "devicelint.interpreter", "devicelint.run"];

let client: LanguageClient | undefined;
let latest: Promise<void> = Promise.resolve();

export async function activate(context: ExtensionContext): Promise<void> {
  context.subscriptions.push(
    commands.registerCommand("devicelint.fixFile", () => changeFile("devicelint.fixAll")),
    commands.registerCommand("devicelint.adoptFile", () => changeFile("devicelint.adopt")),
    commands.registerCommand("devicelint.goToMove", goToMove),
    commands.registerCommand("devicelint.restart", restart),
    commands.registerCommand("devicelint.showLog", () => client?.outputChannel.show()),
    workspace.onDidChangeConfiguration((event) => {
      if (STARTS_ANEW.some((setting) => event.affectsConfiguration(setting))) {
        void restart();
      }
    }),
  );
  await restart();
}

export async function deactivate(): Promise<void> {
  await stop();
}

/** Start the server, after the one that runs; one after the other, however often this is asked for. */
function restart(): Promise<void> {
  latest = latest.then(stop).then(start);
  return latest;
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  if (running?.needsStop()) {
    await running.dispose();
  }
}

async function start(): Promise<void> {
  const server = await serverCommand();
  const settings = workspace.getConfiguration("devicelint");
  const options: LanguageClientOptions = {
    documentSelector: [
      { scheme: "file", language: "python" },
      { scheme: "untitled", language: "python" },
      { scheme: "vscode-notebook-cell", language: "python" },
    ],
    initializationOptions: JSON.parse(JSON.stringify(settings)),
    synchronize: { configurationSection: "devicelint" },
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    outputChannelName: "devicelint",
  };
  client = new LanguageClient("devicelint", "devicelint", server, options);
  try {
    await client.start();
  } catch (reason) {
    await tellWhyNot([server.command, ...(server.args ?? [])].join(" "), reason);
  }
}

async function tellWhyNot(command: string, reason: unknown): Promise<void> {
  const show = "Show the log";
  const told = `devicelint does not start (${command}): ${reason}. Is devicelint[server] installed there?`;
  if ((await window.showErrorMessage(told, show)) === show) {
    client?.outputChannel.show();
  }
}

/** Let the server change the file, or the notebook, that is shown. */
async function changeFile(command: string): Promise<void> {
  const document = window.activeTextEditor?.document;
  if (client?.isRunning() && document) {
    const notebook = window.activeNotebookEditor?.notebook.uri ?? document.uri;
    const uri = document.uri.scheme === "vscode-notebook-cell" ? notebook : document.uri;
    await ask(command, uri.toString());
  }
}

async function goToMove(): Promise<void> {
  const editor = window.activeTextEditor;
  if (!client?.isRunning() || !editor) {
    return;
  }
  const here = editor.selection.active;
  const parameters = client.code2ProtocolConverter.asTextDocumentPositionParams(editor.document, here);
  const found = await ask<Location[]>("devicelint.whereMoved", parameters);
  const places = (found ?? []).map(client.protocol2CodeConverter.asLocation);
  await commands.executeCommand(
    "editor.action.goToLocations",
    Uri.parse(editor.document.uri.toString()),
    here,
    places,
    "goto",
    "devicelint knows of nothing that put this value where it is",
  );
}

function ask<Answer>(command: string, ...given: unknown[]): Promise<Answer> | undefined {
  return client?.sendRequest(ExecuteCommandRequest.type, { command, arguments: given });
}
