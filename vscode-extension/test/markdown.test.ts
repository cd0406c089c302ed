// @vitest-environment jsdom
import { describe, expect, it } from 'vitest';
import { allowedLink, fileReference, render } from '../src/webview/markdown';
import { StreamedMarkdown } from '../src/webview/stream';

function html(text: string): HTMLElement {
  const root = document.createElement('div');
  root.append(render(text));
  return root;
}

describe('what a model writes', () => {
  it.each([
    '<img src=x onerror=alert(1)>',
    '<script>alert(1)</script>',
    '<iframe src="https://example.org"></iframe>',
    '[x](javascript:alert(1))',
    '[x](command:workbench.action.quit)',
    '[x](data:text/html,hi)',
    '[x](vscode://x)',
    '![x](https://example.org/pixel.png)',
    '<a href="javascript:alert(1)">x</a>',
    '<svg onload=alert(1)>',
  ])('%s stays harmless', (text) => {
    const root = html(text);
    expect(root.querySelector('img, script, iframe, svg, object, embed, style, form')).toBeNull();
    for (const element of root.querySelectorAll('*')) {
      for (const { name } of element.attributes) expect(name).not.toMatch(/^on|^style$|^src$/);
    }
    for (const link of root.querySelectorAll('a')) expect(allowedLink(link.getAttribute('href')!)).toBe(true);
  });

  it('keeps raw HTML as text', () => {
    expect(html('a <b>bold</b> b').textContent).toContain('<b>bold</b>');
  });

  it('frames code with its language and its buttons', () => {
    const root = html('```python\nprint(1)\n```');
    expect(root.querySelector('figcaption span')!.textContent).toBe('python');
    expect(root.querySelector('pre code')!.textContent).toBe('print(1)\n');
    expect([...root.querySelectorAll('button')].map((button) => button.getAttribute('aria-label'))).toEqual(['Copy', 'Insert at Cursor']);
  });

  it('does not take a file name for a host', () => {
    expect(html('see main.py and read.me').querySelector('a')).toBeNull();
    expect(html('see https://example.org/x').querySelector('a')!.getAttribute('href')).toBe('https://example.org/x');
  });
});

describe('file names in backticks', () => {
  it.each([
    ['src/app.py', { path: 'src/app.py' }],
    ['src/app.py:12', { path: 'src/app.py', line: 12 }],
    ['app.py:3-9', { path: 'app.py', line: 3 }],
    ['./a/b.ts:1:4', { path: './a/b.ts', line: 1 }],
  ])('%s is a link', (text, expected) => {
    expect(fileReference(text)).toEqual(expected);
  });

  it.each(['app.py', 'os.path.join', 'a/b', 'x = 1/2.5', 'https://x.org/a.html', 'np.array(1)', '1.5'])('%s is code', (text) => {
    expect(fileReference(text)).toBeUndefined();
  });

  it('opens at the line', () => {
    const link = html('look at `src/app.py:12`').querySelector('a')!;
    expect(link.getAttribute('href')).toBe('src/app.py');
    expect(link.dataset.line).toBe('12');
  });
});

const ANSWER = `# Title

First paragraph with **bold** and a [link](https://example.org).

- one
- two

  more of two

1. a
2. b

\`\`\`python
def f():
    return """
\`\`
"""
\`\`\`

| a | b |
| - | - |
| 1 | 2 |

~~~~
\`\`\`
nested
\`\`\`
~~~~

> quote
> goes on

Setext
======

Last.`;

describe('a streamed answer', () => {
  it.each([1, 3, 7, 50])('is what a whole one is, in pieces of %i', (size) => {
    const stream = new StreamedMarkdown();
    for (let end = size; end < ANSWER.length; end += size) stream.update(ANSWER.slice(0, end));
    stream.update(ANSWER, true);
    const visible = (root: Element) => root.innerHTML.replace(/<\/?div[^>]*>/g, '').replace(/\s+/g, ' ').trim();
    const whole = document.createElement('div');
    whole.append(render(ANSWER));
    expect(visible(stream.element)).toBe(visible(whole));
  });

  it('leaves finished blocks alone while the rest grows', () => {
    const stream = new StreamedMarkdown();
    stream.update('one\n\ntwo\n\nthree\n\nfour');
    const first = stream.element.querySelector('p');
    stream.update('one\n\ntwo\n\nthree\n\nfour\n\nfive\n\nsix');
    expect(stream.element.querySelector('p')).toBe(first);
  });

  it('grows an open code block in place', () => {
    const stream = new StreamedMarkdown();
    stream.update('text\n\n```js\nlet a');
    const code = stream.element.querySelector('pre code')!;
    stream.update('text\n\n```js\nlet a = 1;\nlet b');
    expect(stream.element.querySelector('pre code')).toBe(code);
    expect(code.textContent).toBe('let a = 1;\nlet b');
    stream.update('text\n\n```js\nlet a = 1;\nlet b\n```\nafter');
    expect(stream.element.querySelector('p:last-child')!.textContent).toBe('after');
  });

  it('stays fast on ten thousand lines', () => {
    const stream = new StreamedMarkdown();
    const began = performance.now();
    let text = 'Intro\n\n```txt\n';
    for (let line = 0; line < 10_000; line += 20) {
      text += 'some line of code that is fairly long\n'.repeat(20);
      stream.update(text);
    }
    // One full render of this takes tens of milliseconds; 500 of them would take far longer than this bound.
    expect(performance.now() - began).toBeLessThan(3_000);
    expect(stream.element.querySelector('code')!.textContent!.split('\n')).toHaveLength(10_001);
  });
});
