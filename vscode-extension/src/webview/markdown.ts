/** Markdown to safe DOM. What a model writes is untrusted: raw HTML stays text, and what is left is sanitised again. */

import DOMPurify from 'dompurify';
import MarkdownIt from 'markdown-it';
import type { Token } from 'markdown-it';

const markdown = new MarkdownIt('default', { html: false, linkify: true, breaks: false });
// Only whole addresses become links by themselves; "main.py" is a file name, not a host under Paraguay's domain.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
markdown.disable('image');

/** Every scheme a link may have; anything else is a path in the workspace or is not a link. */
const EXTERNAL = /^(https?|mailto):/i;
const ANY_SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Whether a link may be shown: web addresses, mail, files by URI, and plain paths. */
export function allowedLink(href: string): boolean {
  return EXTERNAL.test(href) || /^file:/i.test(href) || (!ANY_SCHEME.test(href) && !href.startsWith('//')) || /^[a-z]:[\\/]/i.test(href);
}
markdown.validateLink = allowedLink;

/** Text that names a file, optionally with a line: what becomes a link inside backticks. */
const FILE_NAME = /^(?:\.{0,2}\/)?(?:[\w@.-]+\/)*[\w@.-]+\.[A-Za-z]\w{0,9}(?::(\d+)(?:[:-]\d+)?)?$/;

/** The path and one-based line when `text` names a file unmistakably: with a folder or a line number. */
export function fileReference(text: string): { path: string; line?: number } | undefined {
  if (text.length > 300 || !FILE_NAME.test(text) || !(text.includes('/') || /:\d+/.test(text))) return undefined;
  const [path = text, line] = text.split(':');
  return line ? { path, line: Number.parseInt(line, 10) } : { path };
}

const CONFIG = {
  ALLOWED_TAGS: ['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'strong', 'em', 's', 'code', 'pre', 'blockquote', 'ul', 'ol', 'li', 'a', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'span'],
  ALLOWED_ATTR: ['href', 'title', 'start', 'class'],
  ALLOWED_URI_REGEXP: /^(?!(?:javascript|data|vbscript|command):)/i,
  RETURN_DOM_FRAGMENT: true as const,
};

/** A parsed text's top-level blocks: `[first line, line after]` of each. */
export interface Block {
  start: number;
  end: number;
  type: string;
}

/** The top-level blocks of a Markdown text. */
export function blocksOf(text: string): Block[] {
  return markdown
    .parse(text, {})
    .filter((token: Token) => token.level === 0 && token.nesting >= 0 && token.map !== null)
    .map((token: Token) => ({ start: token.map![0], end: token.map![1], type: token.type }));
}

/** Renders Markdown; code blocks and links are finished by {@link decorate}. */
export function render(text: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(markdown.render(text), CONFIG);
  decorate(fragment);
  return fragment;
}

/** Turns file names in backticks into links and gives code blocks and tables their frames. */
function decorate(root: DocumentFragment): void {
  for (const code of root.querySelectorAll('code')) {
    if (code.parentElement?.tagName === 'PRE' || code.closest('a')) continue;
    const reference = fileReference(code.textContent ?? '');
    if (!reference) continue;
    const link = document.createElement('a');
    link.href = reference.path;
    if (reference.line) link.dataset.line = String(reference.line);
    code.replaceWith(link);
    link.append(code);
  }
  for (const pre of root.querySelectorAll('pre')) frameCode(pre);
  for (const table of root.querySelectorAll('table')) {
    const scroller = document.createElement('div');
    scroller.className = 'table';
    table.replaceWith(scroller);
    scroller.append(table);
  }
}

function frameCode(pre: HTMLPreElement): void {
  const code = pre.querySelector('code');
  const language = [...(code?.classList ?? [])].find((name) => name.startsWith('language-'))?.slice('language-'.length) ?? '';
  const frame = codeFrame(language);
  pre.replaceWith(frame.root);
  frame.code.textContent = code?.textContent ?? '';
}

/** Makes the words of a code block's buttons; set once by the panel so that this module needs no translations. */
export const codeLabels = { copy: 'Copy', insert: 'Insert at Cursor', code: 'code' };

/** An empty code block: a header with the language and its buttons, and the element the code goes into. */
export function codeFrame(language: string): { root: HTMLElement; code: HTMLElement } {
  const root = document.createElement('figure');
  root.className = 'code';
  const header = document.createElement('figcaption');
  const name = document.createElement('span');
  name.textContent = language || codeLabels.code;
  header.append(name);
  for (const [action, icon, label] of [
    ['copy', 'copy', codeLabels.copy],
    ['insert', 'insert', codeLabels.insert],
  ] as const) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'icon';
    button.dataset.code = action;
    button.title = label;
    button.setAttribute('aria-label', label);
    const glyph = document.createElement('span');
    glyph.className = `codicon codicon-${icon}`;
    button.append(glyph);
    header.append(button);
  }
  const pre = document.createElement('pre');
  pre.tabIndex = 0;
  const code = document.createElement('code');
  pre.append(code);
  root.append(header, pre);
  return { root, code };
}
