// The item in the status bar: the state of the server, and the findings of the file that is shown.

import { Disposable, languages, StatusBarAlignment, ThemeColor, Uri, window, workspace } from "vscode";

import type { Server } from "./server";

export class StatusBar {
  private readonly item = window.createStatusBarItem("devicelint.status", StatusBarAlignment.Right, 95);
  private readonly subscriptions: Disposable;

  constructor(private readonly server: Server) {
    const update = () => {
      this.update();
    };
    this.subscriptions = Disposable.from(
      this.item,
      server.onDidChange(update),
      languages.onDidChangeDiagnostics(update),
      window.onDidChangeActiveTextEditor(update),
      window.onDidChangeActiveNotebookEditor(update),
      workspace.onDidChangeConfiguration(update),
    );
    this.item.name = "devicelint";
    this.item.command = "devicelint.showOutput";
    update();
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  private update(): void {
    const { condition, problem } = this.server;
    this.item.backgroundColor =
      condition === "failed" ? new ThemeColor("statusBarItem.errorBackground") : undefined;
    if (condition === "failed") {
      this.show("$(error) devicelint", problem);
    } else if (condition !== "ready") {
      this.show("$(sync~spin) devicelint", "The devicelint server is starting.");
    } else {
      this.showFindings();
    }
    if (condition === "failed" || shown().length > 0) {
      this.item.show();
    } else {
      this.item.hide();
    }
  }

  private showFindings(): void {
    const version = `devicelint ${this.server.version}`;
    const [first] = shown();
    if (!workspace.getConfiguration("devicelint", first).get<boolean>("enable", true)) {
      this.show("$(circle-slash) devicelint", `${version}: turned off by devicelint.enable.`);
      return;
    }
    const found = shown().flatMap((uri) => languages.getDiagnostics(uri).filter(isOurs)).length;
    const counted = found === 1 ? "1 finding" : `${found} findings`;
    const text = found ? `$(warning) devicelint: ${counted}` : "$(check) devicelint";
    this.show(text, `${version}: ${found ? counted : "no findings"} in this file.`);
  }

  private show(text: string, tooltip: string): void {
    this.item.text = text;
    this.item.tooltip = `${tooltip} Click to show the output.`;
  }
}

/** Whether a diagnostic comes from devicelint. */
export function isOurs(found: { source?: string }): boolean {
  return found.source === "devicelint";
}

/** The Python file that is shown, or the cells of the notebook. */
function shown(): Uri[] {
  const notebook = window.activeNotebookEditor?.notebook;
  const documents = notebook
    ? notebook.getCells().map((cell) => cell.document)
    : [window.activeTextEditor?.document];
  return documents.flatMap((one) => (one?.languageId === "python" ? [one.uri] : []));
}
