// The command that starts the server: the user's own, the chosen interpreter, or devicelint on PATH.

import { homedir } from "node:os";
import { Disposable, Event, extensions, window, workspace } from "vscode";

interface PythonExtension {
  environments: {
    onDidChangeActiveEnvironmentPath?: Event<unknown>;
    getActiveEnvironmentPath(resource?: unknown): { path: string };
    resolveEnvironment(path: { path: string }): Promise<
      { executable: { uri?: { fsPath: string } } } | undefined
    >;
  };
}

export interface Command {
  words: string[];
  /** The Python that runs devicelint, where the command names one. */
  interpreter?: string;
  /** The folder that the server starts in. */
  folder?: string;
}

export async function serverCommand(): Promise<Command> {
  const settings = workspace.getConfiguration("devicelint");
  const args = settings.get<string[]>("args") ?? [];
  const folder = workspace.workspaceFolders?.[0]?.uri.fsPath;
  const [start, interpreter] = await startWords();
  const words = [...start, "server", "--stdio", ...args.map(expanded)];
  return { words, interpreter, folder };
}

async function startWords(): Promise<[string[], string?]> {
  const settings = workspace.getConfiguration("devicelint");
  const path = settings.get<string[]>("path");
  if (path?.length) {
    return [path.map(expanded)];
  }
  const named = settings.get<string>("interpreter");
  const interpreter = named ? expanded(named) : await activeInterpreter();
  return interpreter ? [[interpreter, "-m", "devicelint"], interpreter] : [["devicelint"]];
}

/** A word of the settings with `~`, `${workspaceFolder}`, `${userHome}` and `${env:NAME}` replaced. */
export function expanded(word: string): string {
  const folder = workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  return word
    .replace(/^~(?=[/\\]|$)/, homedir())
    .replaceAll("${workspaceFolder}", folder)
    .replaceAll("${userHome}", homedir())
    .replace(/\$\{env:(\w+)\}/g, (_, name: string) => process.env[name] ?? "");
}

/** Call back when another interpreter is selected, where the settings leave the choice to that. */
export async function onInterpreterChange(react: () => void): Promise<Disposable> {
  const environments = (await pythonExtension())?.environments;
  const registered = environments?.onDidChangeActiveEnvironmentPath?.(() => {
    const settings = workspace.getConfiguration("devicelint");
    if (!settings.get<string[]>("path")?.length && !settings.get<string>("interpreter")) {
      react();
    }
  });
  return registered ?? new Disposable(() => undefined);
}

/** The interpreter that the Python extension runs scripts with, where that is installed. */
async function activeInterpreter(): Promise<string | undefined> {
  const environments = (await pythonExtension())?.environments;
  if (!environments) {
    return undefined;
  }
  try {
    const active = environments.getActiveEnvironmentPath(workspace.workspaceFolders?.[0]?.uri);
    const found = await environments.resolveEnvironment(active);
    return found?.executable.uri?.fsPath;
  } catch (reason) {
    void window.showWarningMessage(`devicelint: the Python extension names no interpreter: ${reason}`);
    return undefined;
  }
}

async function pythonExtension(): Promise<PythonExtension | undefined> {
  const python = extensions.getExtension<PythonExtension>("ms-python.python");
  try {
    return python?.isActive ? python.exports : await python?.activate();
  } catch {
    return undefined;
  }
}
