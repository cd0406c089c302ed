/** What the model picker shows: who could answer, what each model can take and costs, and why others cannot. */

import * as vscode from 'vscode';

export interface ModelInfo {
  window?: number;
  tools?: boolean;
  images?: boolean;
  reasoning?: boolean;
  /** US dollars per million tokens; absent when nobody knows. */
  prices?: { input?: number; output?: number } | null;
  /** False when the window is the provider's default for models it has never heard of. */
  known?: boolean;
}

export interface ProviderItem {
  name: string;
  title?: string;
  available?: boolean;
  /** Where its key comes from, or why it cannot be used. */
  reason?: string;
  model?: string;
  models?: { name: string; info?: ModelInfo }[];
  /** Whether a sign-in in the browser makes it available. */
  signsIn?: boolean;
}

export interface ModelRow {
  label: string;
  description?: string;
  detail?: string;
  /** A heading, not to be chosen. */
  heading?: boolean;
  provider?: string;
  model?: string;
  action?: 'key' | 'type' | 'signIn' | 'help';
}

/** The picker's rows: models of those that are available, then what would make the others so. */
export function modelRows(providers: ProviderItem[]): ModelRow[] {
  const { t } = vscode.l10n;
  const rows: ModelRow[] = [];
  for (const item of providers.filter((item) => item.available)) {
    rows.push({ label: item.title ?? item.name, heading: true });
    const models = item.models?.length ? item.models : [{ name: item.model ?? '' }];
    for (const { name, info } of models) {
      rows.push({
        label: name || item.name,
        description: item.name,
        ...(info ? { detail: facts(info) } : {}),
        provider: item.name,
        model: name,
      });
    }
  }
  rows.push({ label: '', heading: true }, { label: t('Type a model’s name…'), action: 'type' }, { label: t('Add a key…'), action: 'key' });
  // One click makes them available, so they come first.
  const others = providers.filter((item) => !item.available).sort((a, b) => Number(b.signsIn ?? false) - Number(a.signsIn ?? false));
  if (others.length) rows.push({ label: t('Not available'), heading: true });
  for (const item of others) {
    rows.push({
      label: item.title ?? item.name,
      description: item.signsIn ? t('sign in in the browser…') : item.name,
      ...(item.reason ? { detail: item.reason } : {}),
      provider: item.name,
      action: item.signsIn ? 'signIn' : /\bkey\b/.test(item.reason ?? '') ? 'key' : 'help',
    });
  }
  return rows;
}

/** A model's facts in one line: window, price, abilities. */
export function facts(info: ModelInfo): string {
  const { t } = vscode.l10n;
  const parts: string[] = [];
  if (info.window) parts.push(info.known === false ? t('{0} tokens assumed', short(info.window)) : t('{0} tokens', short(info.window)));
  const { input, output } = info.prices ?? {};
  if (input === 0 && output === 0) parts.push(t('free'));
  else if (input !== undefined && output !== undefined) parts.push(t('${0} in, ${1} out per million', input, output));
  else parts.push(t('price unknown'));
  if (info.tools) parts.push(t('tools'));
  if (info.images) parts.push(t('images'));
  if (info.reasoning) parts.push(t('reasoning'));
  return parts.join(' · ');
}

function short(tokens: number): string {
  if (tokens >= 1_000_000) return `${Number((tokens / 1_000_000).toFixed(1))}M`;
  return tokens >= 1000 ? `${Math.round(tokens / 1000)}k` : String(tokens);
}
