// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FromPanel, ToPanel } from '../src/panel';
import { mountPanel } from '../src/webview/panel-page';
import type { ApproveParams, TurnEvent } from '../src/wire';

const posted: FromPanel[] = [];

let close = () => undefined as void;

function openPanel(): void {
  posted.length = 0;
  document.body.innerHTML = '';
  close = mountPanel((message) => posted.push(message));
}

function tell(message: ToPanel): void {
  window.dispatchEvent(new MessageEvent('message', { data: message }));
}

const $ = <T extends Element = HTMLElement>(selector: string) => document.querySelector<T>(selector)!;
const last = <K extends FromPanel['type']>(type: K) => posted.filter((message): message is Extract<FromPanel, { type: K }> => message.type === type).pop();
const button = (label: string) => [...document.querySelectorAll('button')].find((item) => item.textContent === label || item.getAttribute('aria-label') === label)!;
const key = (name: string, extra: KeyboardEventInit = {}) => $('#message').dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true, ...extra }));

function type(text: string): void {
  const box = $<HTMLTextAreaElement>('#message');
  box.value = text;
  box.setSelectionRange(text.length, text.length);
  box.dispatchEvent(new Event('input'));
}

function sendTurn(text: string, ...events: TurnEvent[]): void {
  tell({ type: 'turn', turn: { key: text, text, mode: 'chat', attachments: [] } });
  tell({ type: 'events', items: events.map((event) => ({ key: text, event })) });
}

beforeEach(() => {
  vi.useFakeTimers();
  openPanel();
});

afterEach(() => {
  close();
  vi.useRealTimers();
});

describe('writing', () => {
  it('Enter sends, Shift+Enter and an input method’s Enter do not', () => {
    type('hello');
    key('Enter', { shiftKey: true });
    key('Enter', { isComposing: true });
    expect(last('send')).toBeUndefined();
    key('Enter');
    expect(last('send')).toEqual({ type: 'send', text: 'hello', mode: 'chat', steer: false });
    expect($<HTMLTextAreaElement>('#message').value).toBe('');
  });

  describe('the mode', () => {
    const around = { provider: '', model: 'm', used: 0, window: 0, trusted: true, attachments: [], engine: { state: 'ready' as const } };
    const mode = () => $<HTMLSelectElement>('select.mode');
    const sent = () => {
      type('hello');
      key('Enter');
      return last('send')!.mode;
    };

    it('just picked is not taken back by what was told before the extension knew', () => {
      mode().value = 'coder';
      mode().dispatchEvent(new Event('change'));
      expect(last('mode')!.mode).toBe('coder');
      tell({ type: 'surroundings', value: { ...around, mode: 'chat' } });
      expect(sent()).toBe('coder');
      tell({ type: 'surroundings', value: { ...around, mode: 'coder' } });
      tell({ type: 'surroundings', value: { ...around, mode: 'agent' } });
      expect(sent()).toBe('agent');
    });

    it('of a message that a command begins holds for that message', () => {
      tell({ type: 'compose', text: 'Fix this', mode: 'coder' });
      tell({ type: 'surroundings', value: { ...around, mode: 'chat' } });
      key('Enter');
      expect(last('send')).toMatchObject({ text: 'Fix this', mode: 'coder' });
      tell({ type: 'surroundings', value: { ...around, mode: 'chat' } });
      expect(sent()).toBe('chat');
    });
  });

  it('Ctrl+Enter steers only what runs', () => {
    type('a');
    key('Enter', { ctrlKey: true });
    expect(last('send')!.steer).toBe(false);
    sendTurn('q', { kind: 'started' });
    type('b');
    key('Enter', { ctrlKey: true });
    expect(last('send')!.steer).toBe(true);
  });

  it('↑ in an empty box walks through what was sent, ↓ back', () => {
    tell({ type: 'reset', turns: [], pending: [], sent: ['one', 'two'] });
    const box = $<HTMLTextAreaElement>('#message');
    key('ArrowUp');
    expect(box.value).toBe('two');
    key('ArrowUp');
    expect(box.value).toBe('one');
    key('ArrowDown');
    key('ArrowDown');
    expect(box.value).toBe('');
    type('my own');
    key('ArrowUp');
    expect(box.value).toBe('my own');
  });

  it('a draft comes back, but never over what is being written', () => {
    tell({ type: 'reset', turns: [], pending: [], sent: [], draft: 'kept' });
    expect($<HTMLTextAreaElement>('#message').value).toBe('kept');
    type('newer');
    tell({ type: 'reset', turns: [], pending: [], sent: [], draft: 'kept' });
    expect($<HTMLTextAreaElement>('#message').value).toBe('newer');
  });

  it('completes the word at the cursor and nothing else', () => {
    type('see @ap');
    const { id } = last('complete')!;
    tell({ type: 'completions', id, items: [{ label: 'app.py', insert: '@app.py' }, { label: 'apt.py', insert: '@apt.py' }] });
    key('ArrowDown');
    key('Enter');
    expect($<HTMLTextAreaElement>('#message').value).toBe('see @apt.py ');
    expect(last('send')).toBeUndefined();
  });

  it('an answer to an older request does not open the list', () => {
    type('@a');
    const { id } = last('complete')!;
    type('@ab');
    tell({ type: 'completions', id, items: [{ label: 'x', insert: '@x' }] });
    expect($('#suggestions').hidden).toBe(true);
  });

  it('a slash in the middle of a message is a path', () => {
    type('and/or /re');
    expect(last('complete')).toBeUndefined();
    type('/re');
    expect(last('complete')).toBeDefined();
  });
});

describe('reading', () => {
  it('shows text as it comes, and tools as rows that open', () => {
    sendTurn(
      'why?',
      { kind: 'started', model: 'some-model' },
      { kind: 'tool_start', callId: '1', name: 'read_file', label: 'read a.py', toolKind: 'read', input: { path: 'a.py' } },
      { kind: 'tool_end', callId: '1', status: 'completed', output: 'contents' },
      { kind: 'text', delta: 'It **works**' },
    );
    expect($('.who').textContent).toBe('some-model');
    expect($('.markdown strong').textContent).toBe('works');
    const row = $<HTMLDetailsElement>('details.tool');
    expect(row.textContent).not.toContain('contents');
    row.open = true;
    row.dispatchEvent(new Event('toggle'));
    expect(row.textContent).toContain('contents');
  });

  it('says how long it takes only after three seconds', () => {
    sendTurn('why?', { kind: 'started' });
    vi.advanceTimersByTime(2_000);
    expect($('.activity').textContent).toBe(' Thinking');
    vi.advanceTimersByTime(2_000);
    expect($('.activity').textContent).toBe(' Thinking · 4 s');
  });

  it('a failure offers what helps, and counts down when it must wait', () => {
    sendTurn('why?');
    tell({ type: 'outcome', key: 'why?', outcome: { kind: 'error', error: { kind: 'rate_limit', message: 'Too fast', hint: 'Wait.', retryAfterSeconds: 2 } } });
    expect($('.card.error').textContent).toContain('Wait.');
    expect(button('Retry in 2 s').disabled).toBe(true);
    vi.advanceTimersByTime(2_000);
    button('Retry').click();
    expect(last('retry')).toEqual({ type: 'retry', key: 'why?' });
  });

  it('a budget that is reached says what was spent and leaves two ways', () => {
    const spent = { kind: 'budget', message: '$2.01 of today’s budget of $2.00 are spent.', hint: 'Raise it.' } as const;
    sendTurn('why?');
    tell({ type: 'outcome', key: 'why?', outcome: { kind: 'error', error: spent } });
    expect($('.card.error').textContent).toContain('$2.01');
    expect([...document.querySelectorAll('.card.error .actions button')].map((item) => item.textContent)).toEqual(['Raise…', 'Stop']);
    button('Raise…').click();
    expect(last('raiseBudget')).toEqual({ type: 'raiseBudget', key: 'why?' });
    ($('.card.error .actions button:last-child') as HTMLButtonElement).click();
    expect(document.querySelector('.card.error')).toBeNull();
  });

  it('a link asks the editor, it never navigates', () => {
    sendTurn('q', { kind: 'text', delta: '`src/a.py:4`' });
    const click = new MouseEvent('click', { bubbles: true, cancelable: true });
    $('.markdown a').dispatchEvent(click);
    expect(click.defaultPrevented).toBe(true);
    expect(last('link')).toEqual({ type: 'link', href: 'src/a.py', line: 4 });
  });

  it('what was remembered is one quiet line that opens it, and takes it back once', () => {
    tell({ type: 'notice', level: 'info', text: 'Remembered 2 facts', memory: { ids: ['a', 'b'], undoToken: 'u1' } });
    button('Remembered 2 facts').click();
    expect(last('memory')).toEqual({ type: 'memory', ids: ['a', 'b'] });
    button('Undo').click();
    button('Undo').click();
    expect(posted.filter((message) => message.type === 'undoMemory')).toEqual([{ type: 'undoMemory', token: 'u1' }]);
  });

  it('leads to a turn of long ago and marks it', () => {
    const turns = Array.from({ length: 60 }, (_, index) => ({ key: `t${index}`, text: `question ${index}`, mode: 'chat' as const, attachments: [], events: [] }));
    Element.prototype.scrollIntoView = vi.fn();
    tell({ type: 'reset', turns, pending: [], sent: [], reveal: 't3' });
    expect($('.turn.revealed').dataset.key).toBe('t3');
    expect(Element.prototype.scrollIntoView).toHaveBeenCalledOnce();
  });

  it('draws the newest turns of a long session at once, and the rest when asked', () => {
    const turns = Array.from({ length: 120 }, (_, index) => ({
      key: `k${index}`,
      text: `question ${index}`,
      mode: 'chat' as const,
      attachments: [],
      events: [{ kind: 'text' as const, delta: `answer ${index}` }],
      outcome: { kind: 'done' as const, stopReason: 'end' },
    }));
    tell({ type: 'reset', turns, pending: [], sent: [] });
    expect(document.querySelectorAll('.turn').length).toBeLessThan(50);
    expect($('.turn:last-child').textContent).toContain('answer 119');
    while (!button('Show earlier messages').hidden) button('Show earlier messages').click();
    expect(document.querySelectorAll('.turn')).toHaveLength(120);
    expect($('.turn').textContent).toContain('question 0');
  });
});

describe('questions', () => {
  const approval = (extra: Partial<ApproveParams> = {}): ApproveParams => ({
    callId: 'c',
    title: 'Run a command',
    toolKind: 'execute',
    preview: 'rm -r build',
    options: [
      { id: 'allow', title: 'Allow once' },
      { id: 'always', title: 'Always' },
      { id: 'deny', title: 'Deny' },
    ],
    ...extra,
  });

  it('show the whole command, and their buttons sleep for a moment', () => {
    sendTurn('go', { kind: 'started' });
    tell({ type: 'dialog', dialog: { kind: 'approve', key: 'go', params: approval() } });
    expect($('.card.dialog pre').textContent).toBe('rm -r build');
    button('Allow once').click();
    expect(last('approve')).toBeUndefined();
    vi.advanceTimersByTime(250);
    button('Allow once').click();
    expect(last('approve')).toEqual({ type: 'approve', callId: 'c', optionId: 'allow' });
  });

  it('never take the focus', () => {
    $('#message').focus();
    sendTurn('go', { kind: 'started' });
    tell({ type: 'dialog', dialog: { kind: 'approve', key: 'go', params: approval() } });
    vi.advanceTimersByTime(300);
    expect(document.activeElement).toBe($('#message'));
  });

  it('settled elsewhere, they say so and can not be pressed', () => {
    sendTurn('go', { kind: 'started' });
    tell({ type: 'dialog', dialog: { kind: 'approve', key: 'go', params: approval() } });
    tell({ type: 'resolved', callId: 'c', text: 'Settled elsewhere.', answered: false });
    vi.advanceTimersByTime(300);
    expect($('.card.dialog').textContent).toContain('Settled elsewhere.');
    expect(document.querySelectorAll('.card.dialog button:not(:disabled)')).toHaveLength(0);
  });

  it('about an edit are answered on its card', () => {
    const range = { start: { line: 1, character: 0 }, end: { line: 2, character: 0 } };
    const hunks = [{ id: 'h', range, oldText: 'a - b\n', newText: 'a + b\n' }];
    sendTurn('fix', { kind: 'edit', callId: 'c', uri: 'file:///src/app.py', status: 'proposed', hunks });
    tell({ type: 'dialog', dialog: { kind: 'approve', key: 'fix', params: approval({ toolKind: 'edit', edits: [{ uri: 'file:///src/app.py', hunks }] }) } });
    vi.advanceTimersByTime(300);
    expect($('.card.edit .file').textContent).toBe('app.py');
    expect($('.card.edit .counts').textContent).toBe('+1 −1');
    button('Open Diff').click();
    expect(last('diff')).toEqual({ type: 'diff', callId: 'c', uri: 'file:///src/app.py' });
    button('Accept').click();
    expect(last('approve')).toEqual({ type: 'approve', callId: 'c', optionId: 'allow' });
    tell({ type: 'resolved', callId: 'c', text: 'Accepted', answered: true });
    tell({ type: 'events', items: [{ key: 'fix', event: { kind: 'edit', callId: 'c', uri: 'file:///src/app.py', status: 'applied' } }] });
    tell({ type: 'outcome', key: 'fix', turnId: 't', outcome: { kind: 'done', stopReason: 'end' } });
    expect($('.card.edit .diff').textContent).toContain('a + b');
    button('Undo').click();
    expect(last('undo')).toEqual({ type: 'undo', turnId: 't', callId: 'c' });
  });

  it('of the model are answered by choosing and by writing', () => {
    sendTurn('go', { kind: 'started' });
    const questions = [
      { id: 'q1', text: 'Which?', options: ['x', 'y'], multiple: true },
      { id: 'q2', text: 'Why?' },
    ];
    tell({ type: 'dialog', dialog: { kind: 'ask', key: 'go', params: { callId: 'a', questions } } });
    vi.advanceTimersByTime(300);
    $<HTMLInputElement>('input[value="y"]').checked = true;
    $<HTMLTextAreaElement>('.question textarea').value = 'because';
    button('Answer').click();
    expect(last('answer')).toEqual({ type: 'answer', callId: 'a', answers: { q1: ['y'], q2: 'because' } });
  });
});

describe('the queue', () => {
  it('is listed, and each message can be taken back', () => {
    sendTurn('one', { kind: 'started' });
    sendTurn('two', { kind: 'queued', position: 1 });
    expect($('.queue').textContent).toContain('two');
    button('Remove from the queue').click();
    expect(last('unqueue')).toEqual({ type: 'unqueue', key: 'two' });
    tell({ type: 'removed', key: 'two' });
    expect($('.queue').hidden).toBe(true);
  });
});

describe('broken and untrusted', () => {
  const around = { provider: '', model: '', used: 0, window: 0, mode: 'chat' as const, trusted: true, attachments: [] };

  it('a server that is not there is one line with what to do', () => {
    tell({ type: 'surroundings', value: { ...around, engine: { state: 'failed', message: 'No Python.' } } });
    expect($('.banner').textContent).toContain('No Python.');
    button('Restart').click();
    expect(last('action')).toEqual({ type: 'action', action: 'restart' });
  });

  it('an untrusted folder is named until it is trusted', () => {
    tell({ type: 'surroundings', value: { ...around, trusted: false, engine: { state: 'ready' } } });
    expect($('.banner').hidden).toBe(false);
    tell({ type: 'surroundings', value: { ...around, engine: { state: 'ready' } } });
    expect($('.banner').hidden).toBe(true);
  });

  it('a small local model is named with its limits and a way out', () => {
    tell({ type: 'surroundings', value: { ...around, provider: 'local', model: 'tiny', engine: { state: 'ready' } } });
    expect($('.welcome').textContent).toContain('tiny');
    button('Add a Key…').click();
    expect(last('action')).toEqual({ type: 'action', action: 'addKey' });
  });
});
