/** Results in the Markdown preview: HTML stays text, nothing is fetched, and long words leave room for what is beside them. */

import type MarkdownIt from 'markdown-it';
import { RESULT_SCHEME } from './results';

interface Environment {
  /** What the preview shows, as the editor's Markdown extension tells its plugins. */
  currentDocument?: { scheme?: string };
}

/** A word so long that it would push the rest of a table out of sight. */
const LONG_WORD = /\S{40}/;

/** A plugin for the editor's own preview; other documents are drawn as before. */
export function extendMarkdownIt(md: MarkdownIt): MarkdownIt {
  for (const kind of ['html_block', 'html_inline', 'image'] as const) {
    const before = md.renderer.rules[kind];
    md.renderer.rules[kind] = (tokens, index, options, env: Environment, self) => {
      const token = tokens[index]!;
      if (env?.currentDocument?.scheme !== RESULT_SCHEME) {
        return before ? before(tokens, index, options, env, self) : kind === 'image' ? self.renderToken(tokens, index, options) : token.content;
      }
      const address = kind === 'image' ? ` (${String(token.attrGet('src'))})` : '';
      return md.utils.escapeHtml(token.content + address);
    };
  }
  const cell = md.renderer.rules['td_open'];
  md.renderer.rules['td_open'] = (tokens, index, options, env: Environment, self) => {
    if (env?.currentDocument?.scheme === RESULT_SCHEME && LONG_WORD.test(tokens[index + 1]?.content ?? '')) {
      tokens[index]!.attrJoin('style', 'overflow-wrap: anywhere');
    }
    return cell ? cell(tokens, index, options, env, self) : self.renderToken(tokens, index, options);
  };
  return md;
}
