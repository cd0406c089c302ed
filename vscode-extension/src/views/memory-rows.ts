/** The rows of the Memory view: what is remembered, by kind. */

import { env, l10n } from 'vscode';
import type { Digest, Episode, Fact, FactSource, MemoryContents, ProfileField, RecallItem, WaitingItem } from './data';
import type { MemoryTarget, Row } from './rows';

const BAR = 5;
const DETAILS = 'chatls.ui.memory.item.details';

/** The rows of a memory; none when nothing is remembered. */
export function memoryRows(memory: MemoryContents): Row[] {
  return [
    waitingRow(memory.waiting),
    factsRow(memory),
    groupRow('profile', l10n.t('Profile'), 'account', memory.profile.map(profileRow)),
    groupRow('projects', l10n.t('Projects'), 'project', memory.projects.map((project): Row => {
      const detail = [project.description, project.path, project.technologies?.join(', ')].filter(Boolean).join('\n');
      const target = { kind: 'project', id: `project:${project.name.toLowerCase()}`, text: project.name };
      return { ...leaf(target), ...described(project.status || day(project.lastActive)), tooltip: detail || project.name };
    })),
    groupRow('topics', l10n.t('Topics'), 'tag', memory.topics.map((topic): Row => {
      const target = { kind: 'topic', id: `topic:${topic.name}`, text: topic.name };
      return { ...leaf(target), ...described(topic.mentions ? `× ${topic.mentions}` : ''), tooltip: topic.summary || topic.name };
    })),
    timelineRow(memory.episodes),
    groupRow('digests', l10n.t('Digests'), 'calendar', memory.digests.map(digestRow)),
  ].filter((row) => row !== undefined);
}

/** The rows of a search: the best first, with the reason it was found. */
export function recallRows(items: RecallItem[]): Row[] {
  return items.map((item) => ({
    ...leaf(foundTarget(item), 'found'),
    actions: item.kind === 'fact' && item.source?.session ? 'fact.found.said' : item.kind,
    ...described([kindWord(item.kind), item.why].filter(Boolean).join(' · ')),
    icon: item.kind === 'fact' ? 'lightbulb' : 'search',
    ...(item.kind === 'fact' ? { command: { command: DETAILS, title: l10n.t('Where It Comes From') } } : {}),
  }));
}

function foundTarget({ kind, id, text, category, source }: RecallItem): MemoryTarget {
  return { kind, id, text, ...(category ? { category } : {}), ...(source ? originOf(source) : {}) };
}

function originOf({ session, message }: FactSource): Pick<MemoryTarget, 'origin'> {
  return session ? { origin: { session, ...(message ? { message } : {}) } } : {};
}

/** The part of a memory that a background run just added. */
export function onlyThose(memory: MemoryContents, ids: ReadonlySet<string>): MemoryContents {
  const facts = memory.facts.filter(({ id }) => ids.has(id));
  return {
    waiting: memory.waiting.filter(({ id }) => ids.has(`review:${id}`)),
    facts,
    total: facts.length,
    profile: memory.profile.filter(({ key }) => ids.has(`profile:${key}`) || ids.has(`profile:pref:${key}`)),
    projects: memory.projects.filter(({ name }) => ids.has(`project:${name}`)),
    topics: memory.topics.filter(({ name }) => ids.has(`topic:${name}`)),
    episodes: memory.episodes.filter(({ id }) => ids.has(id)),
    digests: [],
  };
}

/** What waits for the user's yes, with a button for each answer. */
function waitingRow(items: WaitingItem[]): Row | undefined {
  if (!items.length) return undefined;
  const children = items.map((item): Row => {
    const outside = item.external ? l10n.t('from a conversation with outside content') : '';
    const target = { kind: 'waiting', id: item.id, text: item.text, ...originOf({ ...item, kind: 'extraction' }) };
    return {
      ...leaf(target),
      ...described([item.category || kindWord(item.kind), day(item.date), outside].filter(Boolean).join(' · ')),
      tooltip: [item.text, outside].filter(Boolean).join('\n'),
      icon: item.external ? 'shield' : 'question',
    };
  });
  const target = { kind: 'waiting', id: '', text: '', ids: items.map(({ id }) => id) };
  return { id: 'waiting', label: l10n.t('Waiting for You'), icon: 'bell-dot', description: String(items.length), children, expanded: true, actions: 'waitingGroup', target };
}

function digestRow(digest: Digest): Row {
  const month = new Date(`${digest.start}T12:00:00Z`).toLocaleDateString(env.language, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  const week = l10n.t('Week {0} of {1}', Number(digest.title.slice(-2)), digest.title.slice(0, 4));
  const label = digest.kind === 'monthly' ? month : week;
  return {
    id: `digest:${digest.name}`,
    label,
    target: { kind: 'digest', id: digest.name, text: label },
    actions: 'digest',
    tooltip: digest.text,
    ...described(digest.kind === 'monthly' ? '' : `${digest.start} – ${digest.end}`),
    command: { command: 'chatls.ui.memory.item.digest', title: label },
  };
}

function factsRow({ facts, total }: MemoryContents): Row | undefined {
  if (!facts.length) return undefined;
  const best = Math.max(...facts.map((fact) => fact.score ?? 0));
  const categories = [...new Set(facts.map((fact) => fact.category))].sort((a, b) => a.localeCompare(b));
  const children = categories.map((category): Row => {
    const mine = facts.filter((fact) => fact.category === category);
    const rows = mine.map((fact) => factRow(fact, best));
    return { id: `category:${category}`, label: category, description: String(mine.length), children: rows, expanded: facts.length <= 20 };
  });
  if (total > facts.length) children.push({ id: 'more', label: l10n.t('{0} more; search to see them', total - facts.length), icon: 'ellipsis' });
  return { id: 'facts', label: l10n.t('Facts'), description: String(total), icon: 'lightbulb', children, expanded: true };
}

function factRow(fact: Fact, best: number): Row {
  const age = fact.ageDays ? l10n.t('{0} d', fact.ageDays) : l10n.t('today');
  const marks = [...(fact.pinned ? [l10n.t('pinned')] : []), ...(fact.sensitive ? [l10n.t('sensitive')] : [])];
  const target: MemoryTarget = {
    kind: 'fact',
    id: fact.id,
    text: fact.content,
    category: fact.category,
    pinned: fact.pinned === true,
    sensitive: fact.sensitive === true,
  };
  const percent = fact.confidence === undefined ? undefined : Math.round(100 * fact.confidence);
  const confidence = percent === undefined ? '' : l10n.t('confidence {0} %', percent);
  const sources = fact.sources ?? [];
  const origin = sources.findLast(({ session }) => session) ?? sources[0];
  const who = sourceWord(origin?.kind ?? fact.provenance ?? '');
  const source = [who, day(origin?.time)].filter(Boolean).join(', ');
  if (origin) Object.assign(target, originOf(origin));
  return {
    ...leaf(target),
    description: [scoreBar(fact.score ?? 0, best), age, percent === undefined ? '' : `${percent} %`, who, ...marks].filter(Boolean).join(' · '),
    tooltip: [fact.content, '', [fact.category, confidence, source, ...marks].filter(Boolean).join(' · ')].join('\n'),
    speech: [fact.content, l10n.t('score {0}', (fact.score ?? 0).toFixed(1)), age, confidence, source, ...marks].filter(Boolean).join(', '),
    icon: fact.pinned ? 'pinned' : fact.sensitive ? 'lock' : 'circle-small',
    actions: `fact${fact.pinned ? '.pinned' : '.loose'}${target.origin ? '.said' : ''}${fact.sensitive ? '.sensitive' : '.open'}`,
    command: { command: DETAILS, title: l10n.t('Where It Comes From') },
  };
}

/** Five marks, filled in proportion to the best score shown. */
export function scoreBar(score: number, best: number): string {
  const filled = best > 0 ? Math.min(BAR, Math.max(score > 0 ? 1 : 0, Math.round((BAR * score) / best))) : 0;
  return '▰'.repeat(filled) + '▱'.repeat(BAR - filled);
}

function profileRow(field: ProfileField): Row {
  const target = { kind: 'profile', id: `profile:${field.key}`, text: field.value };
  const marks = [...(field.stale ? [l10n.t('perhaps outdated')] : []), ...(field.sensitive ? [l10n.t('sensitive')] : [])];
  return {
    ...leaf(target),
    label: field.key,
    description: [field.value, ...marks].join(' · '),
    tooltip: [field.key, field.value, sourceWord(field.source ?? ''), ...marks].filter(Boolean).join('\n'),
    actions: `profile.${field.sensitive ? 'sensitive' : 'open'}`,
    ...(field.sensitive ? { icon: 'lock' } : {}),
  };
}

function timelineRow(episodes: Episode[]): Row | undefined {
  const months = [...new Set(episodes.map((episode) => episode.date.slice(0, 7)))].sort().reverse();
  const rows = months.map((month, index): Row => {
    const mine = episodes.filter((episode) => episode.date.startsWith(month)).sort((a, b) => b.date.localeCompare(a.date));
    const label = new Date(`${month}-01T12:00:00Z`).toLocaleDateString(env.language, { month: 'long', year: 'numeric', timeZone: 'UTC' });
    const children = mine.map((episode): Row => ({
      ...leaf({ kind: 'episode', id: episode.id, text: episode.summary }),
      description: [day(episode.date), episode.outcome, lastPart(episode.project)].filter(Boolean).join(' · '),
      tooltip: [episode.summary, episode.outcome, episode.project].filter(Boolean).join('\n'),
    }));
    return { id: `month:${month}`, label, description: String(mine.length), children, expanded: index === 0 };
  });
  return groupRow('timeline', l10n.t('Timeline'), 'history', rows, episodes.length);
}

function groupRow(id: string, label: string, icon: string, children: Row[], count = children.length): Row | undefined {
  return children.length ? { id, label, icon, children, description: String(count) } : undefined;
}

function leaf(target: MemoryTarget, place = 'item'): Row {
  return { id: `${place}:${target.kind}:${target.id}`, label: target.text.replace(/\s+/g, ' '), target, actions: target.kind };
}

function described(description: string): Pick<Row, 'description'> {
  return description ? { description } : {};
}

/** A project's own name: the end of its path. */
function lastPart(path = ''): string {
  return path.split(/[\\/]/).findLast(Boolean) ?? '';
}

function day(iso: string | undefined): string {
  return iso?.slice(0, 10) ?? '';
}

/** Who a fact is from, in a word; `provenance` may say more (`user (supersedes …)`). */
function sourceWord(kind: FactSource['kind']): string {
  const words: Record<string, string> = {
    user: l10n.t('you'),
    correction: l10n.t('you'),
    extraction: l10n.t('learned'),
    import: l10n.t('imported'),
  };
  const word = kind.split(' ')[0]!;
  return words[word] ?? word;
}

function kindWord(kind: string): string {
  const words: Record<string, string> = {
    fact: l10n.t('fact'),
    past: l10n.t('was true'),
    episode: l10n.t('episode'),
    profile: l10n.t('profile'),
    topic: l10n.t('topic'),
    project: l10n.t('project'),
    note: l10n.t('note'),
  };
  return words[kind] ?? kind;
}
