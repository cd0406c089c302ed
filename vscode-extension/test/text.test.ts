import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { extendMarkdownIt } from '../src/commands/inert-preview';
import { localDay, oneLine, plain, shortened, unlinked, withoutIcons } from '../src/text';

describe('text of others', () => {
  it('is told in one sentence, as it was said', () => {
    expect(plain('**Remembered** `general`:\n[We deploy](x) on Thursdays\n\nmore')).toBe('Remembered general: We deploy on Thursdays');
    expect(plain('Remembered [general]: my_var, issue #12, 2 * 3, \\*args and \\_\\_init\\_\\_')).toBe('Remembered [general]: my_var, issue #12, 2 * 3, *args and __init__');
    expect(plain('Forgotten 3 items:\n\n- a')).toBe('Forgotten 3 items.');
    expect(plain('## Topics\n\nmore')).toBe('Topics');
  });

  it('never becomes a link in a notification', () => {
    // What the editor looks for in a message.
    const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;
    for (const text of ['[a](command:x)', '[x[y](z)](command:x)', '\\[a](command:x)', '[[a](b)](https://e.org)']) {
      expect(plain(text), text).not.toMatch(link);
      expect(unlinked(text), text).not.toMatch(link);
    }
  });

  it('draws no icon in a list', () => {
    expect(withoutIcons('$(sync~spin) costs $5')).toBe('\\$(sync~spin) costs $5');
  });

  it('is cut at whole characters', () => {
    expect(shortened('👍🏽👍👍', 3)).toBe('👍🏽…');
    expect(oneLine(' a\n\u202eb\u0007  c ')).toBe('a b c');
  });

  it('has the day it was here', () => {
    const local = new Date(2026, 2, 1, 23, 30);
    expect(localDay(local.toISOString())).toBe('2026-03-01');
    expect([localDay('2026-03-01T00:00:00+00:00'), localDay('2026-03-01'), localDay(undefined), localDay('1970-01-01T00:00:00Z')]).toEqual(['2026-03-01', '2026-03-01', '', '']);
  });
});

describe('a result in the preview', () => {
  const md = extendMarkdownIt(new MarkdownIt({ html: true }));
  const text = 'a <b>bold</b> ![x](https://e.org/x.png)\n\n<div style="background:url(https://e.org/y)">\n<img src="https://e.org/z">\n</div>\n\n`<i>`';

  it('fetches nothing and draws no HTML', () => {
    const html = md.render(text, { currentDocument: { scheme: 'chatls-result' } });
    expect(html).not.toMatch(/<(?:b|img|div|i)\b/);
    expect(html).toContain('&lt;b&gt;bold&lt;/b&gt; x (https://e.org/x.png)');
    expect(html).toContain('<code>&lt;i&gt;</code>');
  });

  it('breaks words that would push the rest of a table away, and no others', () => {
    const table = `| fact | age |\n| --- | --- |\n| ${'W'.repeat(60)} | 12 d |`;
    const html = md.render(table, { currentDocument: { scheme: 'chatls-result' } });
    expect(html.match(/<td[^>]*>/g)).toEqual(['<td style="overflow-wrap: anywhere">', '<td>']);
  });

  it('changes no other document', () => {
    const plainMd = new MarkdownIt({ html: true });
    for (const env of [{ currentDocument: { scheme: 'file' } }, {}]) expect(md.render(text, env)).toBe(plainMd.render(text));
  });
});
