// The commands that change the file that is shown, or move around in it.

import { commands, Uri, window } from "vscode";
import type { Location } from "vscode-languageclient/node";

import type { Server } from "./server";

export function fixFile(server: Server): Promise<void> {
  return changeFile(server, "devicelint.fixAll", "There is nothing to fix in this file.");
}

export function adoptFile(server: Server): Promise<void> {
  return changeFile(server, "devicelint.adopt", "This file needs no changes to become device-agnostic.");
}

/** Let the server change the file, or the notebook, that is shown. */
async function changeFile(server: Server, command: string, otherwise: string): Promise<void> {
  const document = window.activeTextEditor?.document;
  const notebook = window.activeNotebookEditor?.notebook;
  const uri = document?.uri.scheme === "file" ? document.uri : (notebook?.uri ?? document?.uri);
  if (uri && (await server.ask<boolean>(command, uri.toString())) === false) {
    void window.showInformationMessage(`devicelint: ${otherwise}`);
  }
}

export async function goToMove(server: Server): Promise<void> {
  const editor = window.activeTextEditor;
  const client = server.client;
  if (!client || !editor) {
    return;
  }
  const here = editor.selection.active;
  const parameters = client.code2ProtocolConverter.asTextDocumentPositionParams(editor.document, here);
  const found = await server.ask<Location[]>("devicelint.whereMoved", parameters);
  await commands.executeCommand(
    "editor.action.goToLocations",
    Uri.parse(editor.document.uri.toString()),
    here,
    (found ?? []).map((place) => client.protocol2CodeConverter.asLocation(place)),
    "goto",
    "devicelint does not know where this value was moved or created.",
  );
}
