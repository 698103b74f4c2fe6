// As much of VS Code as the client and its library ask for. Events keep their listeners, so that a
// test can make things happen; what nobody described is a function that does nothing, or a class.

"use strict";

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

class Range {
  constructor(...ends) {
    const [start, end] =
      ends.length === 4 ? [new Position(ends[0], ends[1]), new Position(ends[2], ends[3])] : ends;
    Object.assign(this, { start, end });
  }
  contains(position) {
    const before = (one, two) => one.line < two.line || (one.line === two.line && one.character <= two.character);
    return before(this.start, position) && before(position, this.end);
  }
}

class Uri {
  constructor(scheme, path, fragment = "") {
    Object.assign(this, { scheme, path, fragment, fsPath: path });
  }
  static parse(text) {
    const { protocol, pathname, hash } = new URL(text);
    return new Uri(protocol.slice(0, -1), decodeURIComponent(pathname), hash.slice(1));
  }
  static file(path) {
    return new Uri("file", path);
  }
  toString() {
    const path = this.path.split("/").map(encodeURIComponent).join("/");
    return `${this.scheme}://${path}${this.fragment && `#${this.fragment}`}`;
  }
}

class Disposable {
  constructor(dispose = () => {}) {
    this.dispose = dispose;
  }
  static from(...many) {
    return new Disposable(() => many.forEach((one) => one.dispose()));
  }
}

class EventEmitter {
  constructor() {
    this.listeners = new Set();
    this.event = (listener, that) => {
      const bound = that ? listener.bind(that) : listener;
      this.listeners.add(bound);
      return new Disposable(() => this.listeners.delete(bound));
    };
  }
  fire(event) {
    return Promise.all([...this.listeners].map((listener) => listener(event)));
  }
  dispose() {
    this.listeners.clear();
  }
}

class CancellationTokenSource {
  constructor() {
    const cancelled = new EventEmitter();
    this.token = { isCancellationRequested: false, onCancellationRequested: cancelled.event };
    this.cancel = () => cancelled.fire();
    this.dispose = () => {};
  }
}

class Diagnostic {
  constructor(range, message, severity) {
    Object.assign(this, { range, message, severity });
  }
}

class Location {
  constructor(uri, range) {
    Object.assign(this, { uri, range });
  }
}

class DiagnosticRelatedInformation {
  constructor(location, message) {
    Object.assign(this, { location, message });
  }
}

class RelativePattern {
  constructor(base, pattern) {
    Object.assign(this, { baseUri: base.uri ?? base, pattern });
  }
}

class WorkspaceEdit {
  constructor() {
    this.changes = [];
  }
  replace(uri, range, newText) {
    this.changes.push({ uri: uri.toString(), range, newText });
  }
}

class TabInputText {
  constructor(uri) {
    this.uri = uri;
  }
}

class CodeActionKind {
  constructor(value) {
    this.value = value;
  }
  append(part) {
    return new CodeActionKind(this.value ? `${this.value}.${part}` : part);
  }
}
CodeActionKind.Empty = new CodeActionKind("");
for (const [name, value] of Object.entries({
  QuickFix: "quickfix", Refactor: "refactor", RefactorExtract: "refactor.extract",
  RefactorInline: "refactor.inline", RefactorRewrite: "refactor.rewrite", Source: "source",
  SourceOrganizeImports: "source.organizeImports",
})) {
  CodeActionKind[name] = new CodeActionKind(value);
}

/** An object that has what it is given, and all else as well. */
function everything(given) {
  const events = new Map();
  return new Proxy(given, {
    get(target, name) {
      if (name in target || typeof name === "symbol" || name === "then") {
        return target[name];
      }
      if (/^on[A-Z]/.test(name)) {
        if (!events.has(name)) {
          events.set(name, new EventEmitter());
        }
        return events.get(name).event;
      }
      if (/^[A-Z]/.test(name)) {
        target[name] = class {};
        return target[name];
      }
      return () => new Disposable();
    },
    has: () => true,
  });
}

/** The module `vscode`, and what a test does with it. */
function fake(settings, folder, installed = {}) {
  const registered = new Map();
  const executed = [];
  const shown = new Map();
  const messages = [];
  const edits = [];
  const tabs = [];
  const providers = {};
  const terminals = [];
  const statusItem = { visible: false, show: () => (statusItem.visible = true), hide: () => (statusItem.visible = false), dispose: () => {} };
  const configured = new EventEmitter();
  const diagnosed = new EventEmitter();
  const answers = [];
  const opened = new EventEmitter();
  const closed = new EventEmitter();
  const open = (document) => {
    workspace.textDocuments.push(document);
    tabs.push({ input: new TabInputText(document.uri) });
    window.activeTextEditor = { document, selection: { active: new Position(0, 0) } };
  };

  const collection = () => ({
    set: (uri, found) => {
      shown.set(uri.toString(), found ?? []);
      void diagnosed.fire({ uris: [uri] });
    },
    delete: (uri) => shown.delete(uri.toString()),
    clear: () => shown.clear(),
    dispose: () => shown.clear(),
    forEach: () => {},
    has: () => false,
  });
  const channel = () =>
    everything({ name: "devicelint", append: (text) => messages.push(text), appendLine: (text) => messages.push(text) });
  const tell = (text, ...offered) => {
    messages.push(text);
    return Promise.resolve(offered.find((one) => answers.includes(one)));
  };
  const configuration = (section) => {
    const own = { undefined: { devicelint: settings }, devicelint: settings }[section] ?? {};
    return { ...own, get: (name, usual) => own[name] ?? usual, has: (name) => name in own, inspect: () => undefined };
  };

  const workspace = everything({
    workspaceFolders: [{ uri: Uri.file(folder), name: "workspace", index: 0 }],
    textDocuments: [],
    notebookDocuments: [],
    getConfiguration: configuration,
    getWorkspaceFolder: () => workspace.workspaceFolders[0],
    onDidOpenTextDocument: opened.event,
    onDidChangeConfiguration: configured.event,
    registerTextDocumentContentProvider: (scheme, provider) => {
      providers[scheme] = provider;
      return new Disposable();
    },
    onDidCloseTextDocument: closed.event,
    createFileSystemWatcher: () => everything({ dispose: () => {} }),
    applyEdit: (edit) => {
      edits.push(edit);
      return Promise.resolve(true);
    },
  });
  const languages = everything({
    match: (selector, document) =>
      [selector].flat().some((one) => one.language === document.languageId && (!one.scheme || one.scheme === document.uri.scheme)) ? 10 : 0,
    createDiagnosticCollection: collection,
    onDidChangeDiagnostics: diagnosed.event,
    getDiagnostics: (uri) => shown.get(uri.toString()) ?? [],
  });
  for (const kind of ["CodeActions", "Hover", "InlayHints", "Definition"]) {
    const name = kind === "CodeActions" ? "registerCodeActionsProvider" : `register${kind}Provider`;
    languages[name] = (_selector, provider) => {
      providers[kind] = provider;
      return new Disposable();
    };
  }
  const window = everything({
    activeTextEditor: undefined,
    activeNotebookEditor: undefined,
    visibleTextEditors: [],
    tabGroups: everything({ all: [{ tabs }] }),
    createOutputChannel: channel,
    createStatusBarItem: () => statusItem,
    createTerminal: () => ({ show: () => {}, sendText: (text) => terminals.push(text) }),
    showQuickPick: (items) => Promise.resolve(items.find((one) => answers.includes(one.label))),
    showErrorMessage: tell,
    showWarningMessage: tell,
    showInformationMessage: tell,
  });
  const commands = everything({
    registerCommand: (name, run) => {
      if (registered.has(name)) {
        throw new Error(`command '${name}' already exists`);
      }
      registered.set(name, run);
      return new Disposable(() => registered.delete(name));
    },
    executeCommand: (name, ...given) => {
      executed.push([name, ...given]);
      return Promise.resolve(registered.get(name)?.(...given));
    },
  });

  const vscode = everything({
    version: "1.82.0",
    env: everything({ language: "en", appName: "fake" }),
    Position, Range, Uri, Disposable, EventEmitter, CancellationTokenSource, CodeActionKind, Diagnostic, Location, TabInputText, WorkspaceEdit,
    DiagnosticRelatedInformation, RelativePattern,
    CancellationError: class extends Error {},
    DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
    DiagnosticTag: { Unnecessary: 1, Deprecated: 2 },
    FileType: { File: 1, Directory: 2 },
    extensions: everything({ getExtension: (name) => installed[name], all: [] }),
    workspace, languages, window, commands,
  });
  const change = (name, value) => {
    settings[name] = value;
    return configured.fire({ affectsConfiguration: (section) => `devicelint.${name}`.startsWith(section) });
  };
  return { vscode, open, shown, messages, edits, executed, registered, providers, terminals, statusItem, answers, change };
}

module.exports = { fake, EventEmitter, Position, Range, Uri };
