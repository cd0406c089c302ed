/** Where a proposed edit's hunks are in the proposed text, and what was decided about each. Pure. */

import type { ApproveParams, ApproveResult, Hunk } from '../wire';

/** The first line of each hunk in the proposed text, zero-based, in document order. */
export function proposedLines(hunks: readonly Hunk[]): { hunk: Hunk; line: number }[] {
  const ordered = [...hunks].sort((a, b) => a.range.start.line - b.range.start.line || a.range.start.character - b.range.start.character);
  let shift = 0;
  return ordered.map((hunk) => {
    const line = hunk.range.start.line + shift;
    shift += newlines(hunk.newText) - (hunk.range.end.line - hunk.range.start.line);
    return { hunk, line };
  });
}

function newlines(text: string): number {
  return text.split(/\r\n|\r|\n/).length - 1;
}

/** The option that allows, and the one that denies. */
export function verdictOptions(params: ApproveParams): { allow: string; deny: string } {
  const ids = params.options.map((option) => option.id);
  const find = (...names: string[]) => ids.find((id) => names.includes(id));
  return {
    allow: find('allow', 'accept', 'once') ?? ids[0] ?? 'allow',
    deny: find('deny', 'reject') ?? ids[ids.length - 1] ?? 'deny',
  };
}

/** Decisions hunk by hunk; the answer is due when every hunk of every file was decided. */
export class Decisions {
  private readonly verdicts = new Map<string, boolean>();

  constructor(readonly params: ApproveParams) {}

  get hunks(): Hunk[] {
    return (this.params.edits ?? []).flatMap((edit) => edit.hunks);
  }

  verdict(hunkId: string): boolean | undefined {
    return this.verdicts.get(hunkId);
  }

  /** Decides one hunk. */
  decide(hunkId: string, accept: boolean): void {
    if (this.hunks.some((hunk) => hunk.id === hunkId)) this.verdicts.set(hunkId, accept);
  }

  /** Decides what was not decided yet; false when nothing was, so that the whole edit is meant. */
  decideRest(accept: boolean): boolean {
    if (this.verdicts.size === 0) return false;
    for (const { id } of this.hunks) if (!this.verdicts.has(id)) this.verdicts.set(id, accept);
    return true;
  }

  ids(accepted: boolean): string[] {
    return this.hunks.filter((hunk) => this.verdicts.get(hunk.id) === accepted).map((hunk) => hunk.id);
  }

  /** The answer once everything is decided. */
  answer(): ApproveResult | undefined {
    const { hunks } = this;
    if (!hunks.every((hunk) => this.verdicts.has(hunk.id))) return undefined;
    const accepted = this.ids(true);
    const { allow, deny } = verdictOptions(this.params);
    if (accepted.length === 0) return { optionId: deny };
    return accepted.length === hunks.length ? { optionId: allow } : { optionId: allow, accepted };
  }
}
