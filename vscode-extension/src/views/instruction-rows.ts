/** The rows of the Instructions view: what the model is told about the document in front, in the server's order. */

import { l10n } from 'vscode';
import type { ImportEntry, InstructionEntry, InstructionReport } from './data';
import type { Row } from './rows';

/** The rows of a report; none when nothing speaks to this document. */
export function instructionRows(report: InstructionReport): Row[] {
  const rules = report.rules ?? [];
  const applies = (rule: InstructionEntry) => rule.status === 'system' || rule.status === 'turn';
  const rest = rules.filter((rule) => !applies(rule) && rule.status !== 'cut');
  const rows = [
    group('files', l10n.t('Files'), (report.files ?? []).map((entry) => entryRow('files', entry, 'book')), true),
    group('rules', l10n.t('Rules That Apply'), rules.filter(applies).map((entry) => entryRow('rules', entry, 'law')), true),
    group('imports', l10n.t('Imports'), (report.imports ?? []).map(importRow), (report.imports ?? []).some(isBroken)),
    group('cut', l10n.t('Cut'), (report.cut ?? []).map((entry) => entryRow('cut', entry, 'warning')), true),
    group('unmatched', l10n.t('Rules That Do Not Apply'), rest.map((entry) => entryRow('unmatched', entry, 'circle-slash')), false),
  ].filter((row) => row.children.length > 0);
  return rows.map((row) => ({ ...row, description: String(row.children.length) }));
}

/** Tokens of everything in the report that reaches the model. */
export function instructionTokens(report: InstructionReport): number {
  return [...(report.files ?? []), ...(report.rules ?? [])].reduce((sum, entry) => sum + (entry.tokens ?? 0), 0);
}

function group(id: string, label: string, children: Row[], expanded: boolean): Row & { children: Row[] } {
  return { id, label, children, expanded };
}

function entryRow(place: string, entry: InstructionEntry, icon: string): Row {
  const tokens = entry.tokens ? l10n.t('{0} tokens', entry.tokens) : '';
  const facts = [entry.why ?? '', l10n.t('{0} bytes', entry.bytes ?? 0), tokens, ...(entry.patterns ?? [])];
  return {
    id: `${place}:${entry.id}`,
    label: entry.title,
    description: parts(statusWord(entry.status), tokens),
    tooltip: [entry.title, ...facts].filter(Boolean).join('\n'),
    icon,
    ...(entry.uri ? { open: { uri: entry.uri } } : {}),
  };
}

function importRow(entry: ImportEntry): Row {
  const broken = isBroken(entry);
  const line = entry.line + 1;
  const reason = entry.reason ?? '';
  const cut = entry.cutBytes ? l10n.t('{0} bytes cut', entry.cutBytes) : '';
  const where = decodeURIComponent(entry.source.slice(entry.source.lastIndexOf('/') + 1));
  // A missing target cannot be opened; the line that names it can.
  const open = broken || !entry.uri ? { uri: entry.source, line } : { uri: entry.uri };
  return {
    id: `imports:${entry.source}:${entry.line}:${entry.written}`,
    label: entry.written,
    description: parts(broken ? reason || entry.status : '', cut, `${where}:${line}`),
    tooltip: [entry.written, reason, `${where}:${line}`].filter(Boolean).join('\n'),
    icon: broken ? 'warning' : 'link',
    open,
  };
}

function isBroken(entry: ImportEntry): boolean {
  return entry.status !== 'expanded' && entry.status !== 'repeated';
}

function statusWord(status: string): string {
  switch (status) {
    case 'system':
      return l10n.t('always');
    case 'turn':
      return l10n.t('for this file');
    case 'cut':
      return l10n.t('cut');
    case 'unmatched':
      return '';
    default:
      return status;
  }
}

function parts(...words: string[]): string {
  return words.filter(Boolean).join(' · ');
}
