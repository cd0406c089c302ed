// Drives a real VS Code (code-server) in headless Chromium, with the packaged extension, the real server and a loopback
// model. Everything lives in a folder of its own; nothing of the user's is read or written.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, afterEach, before } from 'node:test';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { openProfile } from '../../vscode-extension/scripts/lib/profile.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const ARTIFACTS = path.join(ROOT, 'tests/e2e/artifacts');
const EXTENSION_ID = 'chatls.chatls';

/** What `npm test` prepared: browser, code-server, the .vsix and the programs of the Python environment. */
export const prepared = (() => {
  if (!process.env.CHATLS_E2E) throw new Error('Run the end-to-end tests with: npm test -- e2e');
  return JSON.parse(process.env.CHATLS_E2E);
})();

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

/** Waits until `probe` gives something truthy and returns it; fails naming `what` after `timeout` milliseconds. */
export async function eventually(what, probe, timeout = 20_000) {
  const until = Date.now() + timeout;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (Date.now() > until) throw new Error(`Timed out waiting for ${what}`);
    await wait(50);
  }
}

/** Process groups of ours; a run that is broken off takes them with it. */
const groups = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    for (const child of groups) process.kill(-child.pid, 'SIGKILL');
    process.exit(1);
  });
}

/** Starts a child in a process group of its own, to be ended with {@link stopTree}. */
function startTree(command, args, options) {
  const child = spawn(command, args, { ...options, detached: true });
  groups.add(child);
  child.once('close', () => groups.delete(child));
  return child;
}

async function stopTree(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'close');
  process.kill(-child.pid, 'SIGTERM');
  await Promise.race([ended, wait(5_000).then(() => child.exitCode ?? process.kill(-child.pid, 'SIGKILL'))]);
  await ended;
}

/** The loopback model: scripted answers, recorded requests. */
export class FakeModel {
  static async start() {
    const child = startTree(prepared.python, ['-m', 'tests.fakes.model_server', '--port', '0'], {
      cwd: ROOT,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdout.setEncoding('utf8');
    let line = '';
    for await (const chunk of child.stdout) {
      line += chunk;
      if (line.includes('\n')) break;
    }
    return new FakeModel(child, JSON.parse(line).url);
  }

  constructor(child, url) {
    this.child = child;
    this.url = url;
  }

  async post(where, body) {
    const response = await fetch(this.url + where, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${where}: ${response.status} ${await response.text()}`);
  }

  script(...replies) {
    return this.post('/_script', { replies });
  }

  release(count = 1) {
    return this.post('/_release', { count });
  }

  /** Chat requests so far, each with its parsed body as `json`. */
  async requests() {
    const answer = await (await fetch(`${this.url}/_requests`)).json();
    const all = Array.isArray(answer) ? answer : answer.requests;
    return all.filter((request) => request.path.endsWith('/messages') || request.path.endsWith('/chat/completions'));
  }

  stop() {
    return stopTree(this.child);
  }
}

/** One VS Code with its workspace, its data folder and its model. */
export class Editor {
  /**
   * `files` (path → text) fill the workspace; `settings` are user settings; `env` reaches the server; `trust` leaves
   * workspace trust on; `language` is a display language such as `pt-br`.
   */
  static async start({ files = {}, settings = {}, env = {}, trust = false, language = 'en' } = {}) {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), 'chatls-e2e-'));
    const workspace = path.join(root, 'workspace');
    const home = path.join(root, 'home');
    for (const folder of [workspace, home]) fs.mkdirSync(folder);
    for (const [name, text] of Object.entries(files)) {
      fs.mkdirSync(path.dirname(path.join(workspace, name)), { recursive: true });
      fs.writeFileSync(path.join(workspace, name), text);
    }
    const profile = openProfile(path.join(root, 'profile'), {
      'security.workspace.trust.enabled': trust,
      'files.autoSave': 'off',
      'git.enabled': false,
      'editor.accessibilitySupport': 'off',
      'window.menuBarVisibility': 'compact',
      'chatls.server.path': prepared.server,
      'chatls.retries.max': 1,
      ...settings,
    });
    const { node, entry } = prepared.codeServer;
    const serverEnv = { ...withoutKeys(profile.env), HOME: home, CHATLS_HOME: path.join(home, '.chatcli'), ...env };
    const installed = spawnSync(node, [entry, ...profile.args, '--install-extension', prepared.vsix], { env: serverEnv, encoding: 'utf8' });
    if (installed.status !== 0) throw new Error(`The extension was not installed: ${installed.stdout}${installed.stderr}`);
    if (language !== 'en') pretendLanguagePack(profile.data, language);
    const port = await freePort();
    const log = fs.openSync(path.join(root, 'code-server.log'), 'w');
    const flags = ['--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, '--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'];
    if (!trust) flags.push('--disable-workspace-trust');
    if (language !== 'en') flags.push('--locale', language);
    const child = startTree(node, [entry, ...profile.args, ...flags], { env: serverEnv, stdio: ['ignore', log, log] });
    const base = `http://127.0.0.1:${port}`;
    await eventually('code-server to answer', () => fetch(`${base}/healthz`).then((r) => r.ok, () => false), 30_000);
    return new Editor({ root, workspace, home, child, url: `${base}/?folder=${workspace}`, profile });
  }

  constructor(fields) {
    Object.assign(this, fields);
  }

  path(name) {
    return path.join(this.workspace, name);
  }

  read(name) {
    return fs.readFileSync(this.path(name), 'utf8');
  }

  async stop() {
    await stopTree(this.child);
    if (process.env.CHATLS_E2E_KEEP) console.log(`kept ${this.root}`);
    else fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The machine's own keys must not reach a test. */
function withoutKeys(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/(_API_KEY|_BASE_URL|^LLM_|^CHATCLI_|^CHATLS_)/.test(name)));
}

/** Tells the editor that a language pack is there: it needs one to speak a language, and extensions bring their own words. */
function pretendLanguagePack(data, language) {
  const pack = path.join(data, 'language-pack');
  fs.mkdirSync(pack, { recursive: true });
  const translations = path.join(pack, 'main.i18n.json');
  fs.writeFileSync(translations, JSON.stringify({ version: '1.0.0', contents: {} }));
  const extensions = [{ extensionIdentifier: { id: 'chatls.language-pack' }, version: '1.0.0' }];
  const entry = { hash: 'chatls', label: language, extensions, translations: { vscode: translations } };
  fs.writeFileSync(path.join(data, 'languagepacks.json'), JSON.stringify({ [language]: entry }));
}

/** A page on an {@link Editor}. */
export class Workbench {
  static async open(browser, editor, name) {
    const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, reducedMotion: 'reduce' });
    const page = await context.newPage();
    const workbench = new Workbench(page, name);
    page.on('console', (message) => workbench.console.push(`${message.type()}: ${message.text()}`));
    await page.goto(editor.url, { waitUntil: 'domcontentloaded' });
    await page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: 60_000 });
    return workbench;
  }

  constructor(page, name) {
    this.page = page;
    this.name = name;
    this.console = [];
    this.shots = 0;
  }

  /** The inside of the chat panel. */
  get chat() {
    return this.page.frameLocator(`iframe.webview.ready[src*="extensionId=${EXTENSION_ID}"]`).frameLocator('iframe#active-frame');
  }

  get box() {
    return this.chat.locator('#message');
  }

  get status() {
    return this.page.locator('.statusbar-item[id="chatls.chatls.chatls.status"], .statusbar-item[id*="chatls.status"]');
  }

  notification(text) {
    return this.page.locator('.notifications-toasts .notification-list-item', { hasText: text });
  }

  /** Runs a command of the palette. What is still on its way may take the focus, which closes the palette: then again. */
  async command(title) {
    const input = this.page.locator('.quick-input-widget .quick-input-box input').first();
    const row = this.page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first();
    for (let left = 3; ; left--) {
      const patience = left > 0 ? { timeout: 8000 } : {};
      try {
        await this.page.keyboard.press('F1');
        await input.fill(`>${title}`, patience);
        await row.click(patience);
        return;
      } catch (error) {
        if (left <= 0) throw error;
      }
    }
  }

  /** Answers the input box that is open. */
  async answer(text) {
    const input = this.page.locator('.quick-input-widget .quick-input-box input').first();
    await input.waitFor();
    await input.fill(text);
    await this.page.keyboard.press('Enter');
  }

  /** The webview page in which `selector` matches. */
  webview(selector) {
    return eventually(`a page with ${selector}`, async () => {
      for (const frame of this.page.frames()) {
        // A frame may go away while it is asked.
        if (await frame.locator(selector).count().catch(() => 0)) return frame;
      }
      return undefined;
    });
  }

  /** The pane of one view of ours. */
  pane(name) {
    return this.page.locator('.part.sidebar .pane', { has: this.page.locator(`.pane-header[aria-label^="${name}"]`) });
  }

  /** A row of a view. */
  row(name, text) {
    return this.pane(name).locator('.monaco-list-row', { hasText: text });
  }

  /** Shows some views and hides others, so that each has room. */
  async toggle(...names) {
    for (const name of names) await this.pane(name).locator('.pane-header .title').click();
  }

  /** Unfolds a row. A view that is read anew meanwhile moves its rows away from under the pointer: then again. */
  async unfold(name, text) {
    const row = this.row(name, text).first();
    const open = row.and(this.page.locator('[aria-expanded="true"]'));
    await eventually(`${text} to unfold`, async () => {
      if (await open.isVisible()) return true;
      await row.click();
      return open.waitFor({ timeout: 3000 }).then(() => true, () => false);
    });
  }

  /** Presses an inline action of a row. */
  async act(name, text, label) {
    await this.row(name, text).hover();
    await this.row(name, text).locator(`.actions a[aria-label^="${label}"]`).click();
  }

  async openChat() {
    await this.page.locator('.activitybar .action-item a[aria-label^="ChatLS"]').click();
    await this.box.waitFor({ timeout: 30_000 });
  }

  /** Makes the side bar `width` pixels wide by dragging its edge. */
  async widenSideBar(width = 460) {
    const bar = await this.page.locator('.part.sidebar').boundingBox();
    await this.page.mouse.move(bar.x + bar.width, bar.y + bar.height / 2);
    await this.page.mouse.down();
    await this.page.mouse.move(bar.x + width, bar.y + bar.height / 2, { steps: 5 });
    await this.page.mouse.up();
    await this.page.mouse.move(bar.x + width + 300, 300);
  }

  async ready() {
    await this.status.filter({ hasText: /ready|pronto|offline/ }).waitFor({ timeout: 45_000 });
  }

  /** Sends a message; what comes last in the panel is then its own turn, not the one before. */
  async ask(text, mode) {
    if (mode) await this.chat.getByLabel(/^(Mode|Modo)$/).selectOption(mode);
    const before = await this.chat.locator('.turn').count();
    await this.box.fill(text);
    await this.box.press('Enter');
    await this.chat.locator('.turn').nth(before).waitFor({ state: 'attached' });
  }

  async openFile(name) {
    const base = name.slice(name.lastIndexOf('/') + 1);
    await this.page.keyboard.press('F1');
    const input = this.page.locator('.quick-input-widget .quick-input-box input').first();
    await input.waitFor();
    await input.fill(name);
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: base }).first().click();
    await this.page.locator(`.tabs-container .tab[data-resource-name="${base}"]`).waitFor();
  }

  /** The text lines the editor in front shows. */
  async editorText() {
    const lines = await this.page.locator('.editor-group-container.active .editor-instance .view-lines').last().innerText();
    return lines.replace(/\u00a0/g, ' ');
  }

  /** Keeps a screenshot of this state as an artefact of the run. */
  async shot(state) {
    fs.mkdirSync(ARTIFACTS, { recursive: true });
    this.shots += 1;
    await this.page.screenshot({ path: path.join(ARTIFACTS, `${this.name}-${String(this.shots).padStart(2, '0')}-${state}.png`) });
  }
}

/** Chromium without a window and without traffic of its own. */
export function launchBrowser() {
  const { executablePath, args } = prepared.browser;
  const quiet = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'];
  // Chromium refuses its own sandbox to root, which is what CI containers run as.
  const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, headless: true, args: [...quiet, ...root, ...args] });
}

/**
 * One VS Code with our panel open for all tests of a file. `options` makes those of `Editor.start` from the model,
 * `started` may prepare the editor's folder before it is opened, `use` is given what the tests work with. Where no server
 * comes up, `ready` is false.
 */
export function scene(name, { options, started = () => undefined, ready = true, use }) {
  const made = {};
  before(async () => {
    [made.model, made.browser] = await Promise.all([FakeModel.start(), launchBrowser()]);
    made.editor = await Editor.start(await options(made.model));
    await started(made.editor);
    made.wb = await Workbench.open(made.browser, made.editor, name);
    use(made);
    await made.wb.openChat();
    await made.wb.widenSideBar();
    if (ready) await made.wb.ready();
  });
  afterEach(async (t) => {
    if (t.passed || !made.wb) return;
    await made.wb.shot('failed');
    // Where only the output is kept, it says what the panel showed.
    const shown = await made.wb.chat.locator('body').innerText({ timeout: 2000 }).catch(() => 'nothing');
    console.log(`"${t.name}" failed while the panel ended with:\n${shown.slice(-1500)}`);
  });
  after(async () => {
    await made.wb?.shot('last');
    await made.browser?.close();
    await made.editor?.stop();
    await made.model?.stop();
  });
}
