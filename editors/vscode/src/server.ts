// How the server is started: with the interpreter that people chose, or by a command of theirs.

import { extensions, window, workspace } from "vscode";
import type { Executable } from "vscode-languageclient/node";

interface PythonEnvironments {
  environments: {
    getActiveEnvironmentPath(resource?: unknown): { path: string };
    resolveEnvironment(path: { path: string }): Promise<
      { executable: { uri?: { fsPath: string } } } | undefined
    >;
  };
}

/** The command that serves, and the folder that it starts in. */
export async function serverCommand(): Promise<Executable> {
  const [command, ...args] = await words();
  const cwd = workspace.workspaceFolders?.[0]?.uri.fsPath;
  return { command, args: [...args, "server", "--stdio"], options: { cwd } };
}

async function words(): Promise<string[]> {
  const settings = workspace.getConfiguration("devicelint");
  const path = settings.get<string[] | null>("path");
  if (path?.length) {
    return path;
  }
  const interpreter = settings.get<string | null>("interpreter") || (await activeInterpreter());
  return interpreter ? [interpreter, "-m", "devicelint"] : ["devicelint"];
}

/** What the Python extension runs scripts with, where there is that extension. */
async function activeInterpreter(): Promise<string | undefined> {
  const python = extensions.getExtension<PythonEnvironments>("ms-python.python");
  if (!python) {
    return undefined;
  }
  try {
    const { environments } = python.isActive ? python.exports : await python.activate();
    const active = environments.getActiveEnvironmentPath(workspace.workspaceFolders?.[0]?.uri);
    const found = await environments.resolveEnvironment(active);
    return found?.executable.uri?.fsPath;
  } catch (reason) {
    void window.showWarningMessage(`devicelint: the Python extension names no interpreter: ${reason}`);
    return undefined;
  }
}
