/** Approvals and questions inline in the stream: never modal, never stealing the focus. */

import type { PendingDialog } from '../panel';
import type { Answers, ApproveParams, AskParams, Question } from '../wire';
import { button, h, icon, t } from './dom';
import { isDone } from './model';
import type { PartView, Post } from './parts';

/** Milliseconds a card's buttons sleep after it appears, so that a click meant for something else decides nothing. */
export const WAKE_MS = 250;

/** The card of one question; it is drawn once, and greyed out when the question is settled. */
export function dialogView(post: Post): PartView {
  const element = h('section', { class: 'card dialog', role: 'group' });
  let drawn = false;
  return {
    element,
    update(part, turn) {
      if (part.kind !== 'dialog') return;
      element.hidden = (part.dialog.kind === 'approve' && isOnCard(part.dialog.params)) || isDone(turn, part);
      if (!drawn) {
        drawn = true;
        draw(element, part.dialog, post);
        if (part.settled === undefined) wake(element);
      }
      if (part.settled !== undefined && element.dataset.settled === undefined) settle(element, part.settled);
    },
  };
}

function draw(element: HTMLElement, dialog: PendingDialog, post: Post): void {
  if (dialog.kind === 'approve') drawApproval(element, dialog.params, post);
  else drawQuestions(element, dialog.params, post);
}

/** Lets the buttons of a new card sleep for a moment. */
export function wake(element: HTMLElement): void {
  const controls = element.querySelectorAll<HTMLButtonElement>('.actions button');
  for (const control of controls) control.disabled = true;
  setTimeout(() => {
    if (element.dataset.settled !== undefined) return;
    for (const control of controls) control.disabled = false;
  }, WAKE_MS);
}

function settle(element: HTMLElement, text: string): void {
  element.dataset.settled = '';
  for (const control of element.querySelectorAll<HTMLButtonElement | HTMLInputElement>('button, input, textarea')) {
    control.disabled = true;
  }
  element.querySelector('.actions')?.replaceChildren(h('span', { class: 'verdict', role: 'status' }, text));
}

/** The words on the buttons: ours for the options every server has, the server's for others. */
function optionLabel(option: { id: string; title: string }, isEdit: boolean): string {
  if (option.id === 'allow') return isEdit ? t('Accept') : t('Allow once');
  if (option.id === 'always') return t('Always allow this');
  if (option.id === 'deny') return isEdit ? t('Reject') : t('Deny');
  return option.title;
}

function drawApproval(element: HTMLElement, params: ApproveParams, post: Post): void {
  const isEdit = Boolean(params.edits?.length);
  element.classList.toggle('for-edit', isEdit);
  element.setAttribute('aria-label', params.title);
  const glyph = params.toolKind === 'execute' ? 'terminal' : isEdit ? 'diff' : 'shield';
  element.append(h('header', {}, icon(glyph), h('span', { class: 'title' }, params.title)));
  if (params.reason) element.append(h('p', { class: 'reason' }, params.reason));
  if (params.preview && !isEdit) element.append(h('pre', { class: 'preview', tabindex: 0 }, params.preview));
  element.append(h('div', { class: 'actions' }, ...optionButtons(params, post)));
}

/** One button per option of an approval; the first is the one that allows. */
export function optionButtons(params: ApproveParams, post: Post): HTMLButtonElement[] {
  const isEdit = Boolean(params.edits?.length);
  return params.options.map((option, index) => {
    const control = button(optionLabel(option, isEdit), index === 0 ? 'primary' : 'secondary', () =>
      post({ type: 'approve', callId: params.callId, optionId: option.id }),
    );
    control.dataset.option = option.id;
    return control;
  });
}

/** Whether an approval is answered on its edit's own card: one file needs no second card. */
export function isOnCard(params: ApproveParams): boolean {
  return params.edits?.length === 1;
}

function drawQuestions(element: HTMLElement, params: AskParams, post: Post): void {
  element.setAttribute('aria-label', t('Questions'));
  const form = h('form', {}, h('header', {}, icon('question'), h('span', { class: 'title' }, t('A question for you'))));
  params.questions.forEach((question, index) => form.append(questionField(question, `${params.callId}-${index}`)));
  const send = h('button', { type: 'submit', class: 'primary' }, t('Answer'));
  const skip = button(t('Skip'), 'secondary', () => post({ type: 'answer', callId: params.callId, answers: null }));
  form.append(h('div', { class: 'actions' }, send, skip));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!send.disabled) post({ type: 'answer', callId: params.callId, answers: readAnswers(form, params) });
  });
  element.append(form);
}

function questionField(question: Question, name: string): HTMLElement {
  if (!question.options?.length) {
    const box = h('textarea', { name, rows: 2, 'aria-label': question.text });
    return h('label', { class: 'question' }, question.text, box);
  }
  const kind = question.multiple ? 'checkbox' : 'radio';
  const choices = question.options.map((option) =>
    h('label', { class: 'choice' }, h('input', { type: kind, name, value: option }), option),
  );
  return h('fieldset', { class: 'question' }, h('legend', {}, question.text), ...choices);
}

function readAnswers(form: HTMLFormElement, params: AskParams): Answers {
  const data = new FormData(form);
  return Object.fromEntries(
    params.questions.map((question, index) => {
      const given = data.getAll(`${params.callId}-${index}`).map(String);
      return [question.id, question.multiple ? given : (given[0] ?? '')];
    }),
  );
}
