/** One exchange: what was asked, what came back, how it ended. */

import type { Failure, PanelAction } from '../panel';
import { button, h, icon, t } from './dom';
import { activity, type Turn } from './model';
import { partView, type PartView, type Post } from './parts';

/** Seconds after which a running turn says how long it has been running. */
const SHOW_ELAPSED_AFTER = 3;

export class TurnView {
  readonly element: HTMLElement;
  private readonly who = h('div', { class: 'who' });
  private readonly parts = h('div', { class: 'parts' });
  private readonly activityLine = h('div', { class: 'activity' });
  private readonly end = h('div', { class: 'end' });
  private readonly views: PartView[] = [];
  private ending = '';
  private countdown: ReturnType<typeof setInterval> | undefined;

  constructor(
    readonly turn: Turn,
    private readonly post: Post,
  ) {
    const { text, attachments } = turn.sent;
    const chips = attachments.map((label) => h('span', { class: 'chip' }, label));
    const question = h('div', { class: 'you' }, h('div', { class: 'question-text' }, text));
    if (chips.length) question.append(h('div', { class: 'chips' }, ...chips));
    const answer = h('div', { class: 'answer' }, this.who, this.parts, this.activityLine, this.end);
    this.element = h('article', { class: 'turn', 'data-key': turn.sent.key }, question, answer);
    this.update();
  }

  /** Draws what changed in the turn. `now` (milliseconds) advances the elapsed time. */
  update(now?: number): void {
    const { turn } = this;
    this.element.dataset.state = turn.state;
    // A message that steered another turn is answered there.
    const elsewhere = turn.sent.steer === true && turn.parts.length === 0 && turn.outcome?.kind !== 'error';
    this.element.querySelector<HTMLElement>('.answer')!.hidden = turn.state === 'queued' || elsewhere;
    this.who.textContent = turn.model || 'ChatLS';
    turn.parts.forEach((part, index) => {
      const view = this.views[index];
      if (view) view.update(part, turn);
      else {
        const made = partView(part, turn, this.post);
        this.views.push(made);
        this.parts.append(made.element);
      }
    });
    this.tick(now);
    this.drawEnd();
  }

  /** Says what is going on, and for how long. */
  tick(now?: number): void {
    const doing = activity(this.turn);
    this.activityLine.hidden = doing === undefined || doing.kind === 'writing';
    if (!doing) return;
    const words = {
      queued: () => t('Queued'),
      tool: () => (doing.kind === 'tool' ? doing.label : ''),
      waiting: () => t('Waiting for you'),
      writing: () => t('Answering'),
      thinking: () => t('Thinking'),
    }[doing.kind]();
    const seconds = now !== undefined && this.turn.startedAt !== undefined ? (now - this.turn.startedAt) / 1000 : 0;
    const elapsed = seconds >= SHOW_ELAPSED_AFTER ? ` · ${Math.floor(seconds)} s` : '';
    const glyph = doing.kind === 'waiting' ? icon('bell-dot') : icon('loading codicon-modifier-spin');
    this.activityLine.replaceChildren(glyph, ` ${words}${elapsed}`);
  }

  private drawEnd(): void {
    const key = JSON.stringify([this.turn.outcome, this.turn.usage]);
    if (key === this.ending) return;
    this.ending = key;
    clearInterval(this.countdown);
    this.end.replaceChildren(...this.endParts());
  }

  private endParts(): HTMLElement[] {
    const { outcome, usage } = this.turn;
    if (!outcome) return [];
    if (outcome.kind === 'cancelled') return [h('div', { class: 'quiet' }, t('Stopped.'))];
    if (outcome.kind === 'interrupted') {
      const go = button(t('Continue'), 'secondary', () => this.post({ type: 'retry', key: this.turn.sent.key }));
      return [h('div', { class: 'card' }, h('p', {}, t('This answer was interrupted.')), h('div', { class: 'actions' }, go))];
    }
    if (outcome.kind === 'error') return [this.errorCard(outcome.error)];
    const parts: HTMLElement[] = [];
    const reason = stopWords(outcome.stopReason);
    if (reason) parts.push(h('div', { class: 'notice', 'data-level': 'warning' }, icon('warning'), ' ', reason));
    if (usage) {
      const tokens = (usage.inputTokens ?? 0) + (usage.cacheReadTokens ?? 0) + (usage.cacheWriteTokens ?? 0);
      const cost = usage.costUsd ? ` · $${usage.costUsd.toFixed(usage.costUsd < 0.01 ? 4 : 2)}` : '';
      const words = t('{0} tokens in · {1} out', tokens.toLocaleString(), (usage.outputTokens ?? 0).toLocaleString());
      // A command of the chat box asks no model.
      if (tokens || usage.outputTokens) parts.push(h('div', { class: 'quiet usage' }, words + cost));
    }
    return parts;
  }

  private errorCard(error: Failure): HTMLElement {
    const actions = h('div', { class: 'actions' });
    const act = (label: string, style: 'primary' | 'secondary', action: PanelAction) =>
      actions.append(button(label, style, () => this.post({ type: 'action', action })));
    const style = () => (actions.childElementCount ? 'secondary' : 'primary');
    if (error.kind === 'auth' || error.kind === 'no_provider') act(t('Add a Key…'), style(), 'addKey');
    if (error.kind === 'no_provider') act(t('Use Ollama…'), style(), 'useOllama');
    if (error.kind === 'context_overflow') act(t('Compact the Conversation'), style(), 'compact');
    if (error.kind === 'budget') return this.budgetCard(error);
    if (error.kind !== 'refused') actions.append(this.retryButton(error, style()));
    if (error.kind !== 'internal' && error.kind !== 'queue_full') act(t('Switch Model…'), style(), 'switchModel');
    if (error.kind === 'internal') act(t('Show Log'), style(), 'showLog');
    // A hint that only says the message again would be noise.
    const hint = error.hint && !error.message.includes(error.hint) ? h('p', { class: 'hint' }, error.hint) : undefined;
    return h(
      'section',
      { class: 'card error', role: 'alert' },
      h('header', {}, icon('error'), h('span', { class: 'title' }, error.message || error.hint || t('Something went wrong.'))),
      hint,
      actions,
    );
  }

  /** What was spent, and whether to go on: either more money, or the question rests. */
  private budgetCard(error: Failure): HTMLElement {
    const card = h('section', { class: 'card error', role: 'alert' });
    const raise = button(t('Raise…'), 'primary', () => this.post({ type: 'raiseBudget', key: this.turn.sent.key }));
    const stop = button(t('Stop'), 'secondary', () => card.replaceWith(h('div', { class: 'quiet' }, t('Stopped.'))));
    card.append(
      h('header', {}, icon('error'), h('span', { class: 'title' }, error.message)),
      h('p', { class: 'hint' }, error.hint ?? ''),
      h('div', { class: 'actions' }, raise, stop),
    );
    return card;
  }

  private retryButton(error: Failure, style: 'primary' | 'secondary'): HTMLButtonElement {
    const retry = button(t('Retry'), style, () => {
      clearInterval(this.countdown);
      this.post({ type: 'retry', key: this.turn.sent.key });
    });
    let left = Math.ceil(error.retryAfterSeconds ?? 0);
    if (left <= 0) return retry;
    const show = () => {
      retry.disabled = left > 0;
      retry.textContent = left > 0 ? t('Retry in {0} s', left) : t('Retry');
      if (left <= 0) clearInterval(this.countdown);
    };
    show();
    this.countdown = setInterval(() => {
      left -= 1;
      show();
    }, 1000);
    return retry;
  }
}

function stopWords(reason: string): string {
  const words: Record<string, string> = {
    max_tokens: t('The answer reached the longest length the model may give.'),
    max_turns: t('Stopped after the most steps one question may take.'),
    refused: t('The model declined to answer.'),
    stalled: t('The model stopped answering.'),
  };
  return words[reason] ?? '';
}
