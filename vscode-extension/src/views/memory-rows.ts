/** The rows of the Memory view: what is remembered, by kind. */

import { env, l10n } from 'vscode';
import { localDay, oneLine, shortened } from '../text';
import type { Digest, Episode, Fact, FactSource, MemoryContents, ProfileField, RecallItem, WaitingItem } from './data';
import { statusWord } from './memory-words';
import type { MemoryTarget, Row } from './rows';

const BAR = 5;
/** Longest label; the tooltip has the rest. */
const LABEL = 120;
const DETAILS = 'chatls.ui.memory.item.details';

/** The rows of a memory; none when nothing is remembered. */
export function memoryRows(memory: MemoryContents): Row[] {
  return [
    ...problemRows(memory.problems),
    waitingRow(memory.waiting),
    factsRow(memory),
    groupRow('profile', l10n.t('Profile'), 'account', memory.profile.map(profileRow)),
    groupRow('projects', l10n.t('Projects'), 'project', memory.projects.map((project): Row => {
      const detail = [project.name, project.description, project.path, project.technologies?.join(', ')].filter(Boolean).join('\n');
      const target = { kind: 'project', id: `project:${project.name.toLowerCase()}`, text: project.name, ...originOf(project.source) };
      return { ...leaf(target), ...described(oneLine(statusWord(project.status ?? '') || localDay(project.lastActive))), tooltip: detail };
    })),
    groupRow('topics', l10n.t('Topics'), 'tag', memory.topics.map((topic): Row => {
      const target = { kind: 'topic', id: `topic:${topic.name}`, text: topic.name, ...originOf(topic.source) };
      const mentioned = topic.mentions === 1 ? l10n.t('mentioned once') : l10n.t('mentioned {0} times', topic.mentions ?? 0);
      return {
        ...leaf(target),
        ...described(topic.mentions ? `× ${topic.mentions}` : ''),
        tooltip: [topic.name, topic.summary].filter(Boolean).join('\n'),
        speech: [oneLine(topic.name), topic.mentions ? mentioned : '', oneLine(topic.summary ?? '')].filter(Boolean).join(', '),
      };
    })),
    timelineRow(memory.episodes, memory.episodeTotal),
    groupRow('digests', l10n.t('Digests'), 'calendar', memory.digests.map(digestRow)),
  ].filter((row) => row !== undefined);
}

/** What is wrong with the files: what cannot be read must not be taken for forgotten. */
export function problemRows(problems: string[] = []): Row[] {
  const command = { command: 'chatls.ui.memory.stats', title: l10n.t('Memory Statistics') };
  const rows = problems.map((problem, index): Row => ({ id: `problem:${index}`, label: oneLine(problem), icon: 'warning', tooltip: problem, command }));
  if (rows.length < 2) return rows;
  return [{ id: 'problems', label: l10n.t('{0} files of memory need a look', rows.length), icon: 'warning', children: rows, expanded: true }];
}

/** The rows of a search: the best first, with the reason it was found. */
export function recallRows(items: RecallItem[]): Row[] {
  return items.map((item) => {
    const row = leaf(foundTarget(item), 'found');
    return {
      ...row,
      label: shortened(oneLine(item.text), LABEL),
      tooltip: item.text,
      ...described([kindWord(item.kind), item.why].filter(Boolean).map((part) => oneLine(part!)).join(' · ')),
      icon: item.kind === 'fact' ? 'lightbulb' : 'search',
      ...(item.kind === 'past' ? {} : { command: { command: DETAILS, title: l10n.t('Where It Comes From') } }),
    };
  });
}

function foundTarget({ kind, id, text, category, source }: RecallItem): MemoryTarget {
  if (kind === 'profile') return profileTarget(id, id.split(':')[1] ?? '', text.slice(text.indexOf(': ') + 2), source);
  return { kind, id, text, ...(category ? { category } : {}), ...originOf(source) };
}

function originOf(source: FactSource | undefined): Pick<MemoryTarget, 'origin'> {
  const { session, message } = source ?? {};
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
      ...described([oneLine(item.category || kindWord(item.kind)), localDay(item.date), outside].filter(Boolean).join(' · ')),
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

function factsRow({ facts, total, more }: MemoryContents): Row | undefined {
  if (!facts.length && !more) return undefined;
  const counts = more?.counts ?? countsOf(facts);
  const best = more?.best ?? bestOf(facts);
  const children = Object.keys(counts)
    .sort((a, b) => a.localeCompare(b))
    .map((category): Row => {
      const count = counts[category]!;
      const head = { id: `category:${category}`, label: oneLine(category), description: count.toLocaleString(env.language) };
      if (more) return { ...head, load: async () => loadedRows(category, count, await more.load(category), best) };
      const mine = facts.filter((fact) => fact.category === category);
      return { ...head, children: mine.map((fact) => factRow(fact, best)), expanded: facts.length <= 20 };
    });
  return { id: 'facts', label: l10n.t('Facts'), description: total.toLocaleString(env.language), icon: 'lightbulb', children, expanded: true };
}

/** The facts of one category that were read, and the way to more of them. */
function loadedRows(category: string, count: number, facts: Fact[], best: number): Row[] {
  const rows = facts.map((fact) => factRow(fact, best));
  if (count > facts.length) {
    const label = l10n.t('{0} more…', (count - facts.length).toLocaleString(env.language));
    const command = { command: 'chatls.ui.view.memory.more', title: label, arguments: [category] };
    rows.push({ id: `more:${category}`, label, icon: 'ellipsis', command });
  }
  return rows;
}

function countsOf(facts: Fact[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { category } of facts) counts[category] = (counts[category] ?? 0) + 1;
  return counts;
}

/** The best score of some facts. */
export function bestOf(facts: Fact[]): number {
  return facts.reduce((best, { score }) => Math.max(best, score ?? 0), 0);
}

function factRow(fact: Fact, best: number): Row {
  const dated = !fact.validFrom?.startsWith('1970-01-01');
  const age = !dated ? '' : fact.ageDays ? l10n.t('{0} d', fact.ageDays) : l10n.t('today');
  const spokenAge = !dated ? '' : !fact.ageDays ? l10n.t('today') : fact.ageDays === 1 ? l10n.t('1 day old') : l10n.t('{0} days old', fact.ageDays);
  const marks = [...(fact.pinned ? [l10n.t('pinned')] : []), ...(fact.sensitive ? [l10n.t('sensitive')] : [])];
  const target: MemoryTarget = {
    kind: 'fact',
    id: fact.id,
    text: fact.content,
    category: fact.category,
    pinned: fact.pinned === true,
    sensitive: fact.sensitive === true,
  };
  const scored = l10n.t('score {0}', (fact.score ?? 0).toFixed(1));
  const percent = fact.confidence === undefined ? undefined : Math.round(100 * fact.confidence);
  const confidence = percent === undefined ? '' : l10n.t('confidence {0} %', percent);
  const sources = fact.sources ?? [];
  const origin = sources.findLast(({ session }) => session) ?? sources[0];
  const who = sourceWord(origin?.kind ?? fact.provenance ?? '');
  const source = origin ? sourceWords(origin) : who;
  Object.assign(target, originOf(origin));
  return {
    ...leaf(target),
    description: [scoreBar(fact.score ?? 0, best), age, percent === undefined ? '' : `${percent} %`, who, ...marks].filter(Boolean).join(' · '),
    tooltip: [fact.content, '', [fact.category, scored, age, confidence, source, ...marks].filter(Boolean).join(' · ')].join('\n'),
    speech: [oneLine(fact.content), scored, spokenAge, confidence, source, ...marks].filter(Boolean).join(', '),
    icon: fact.pinned ? 'pinned' : fact.sensitive ? 'lock' : scoreIcon(fact.score ?? 0, best),
    actions: `fact${fact.pinned ? '.pinned' : '.loose'}${target.origin ? '.said' : ''}${fact.sensitive ? '.sensitive' : '.open'}`,
    command: { command: DETAILS, title: l10n.t('Where It Comes From') },
  };
}

/** A mark as large as the score: it is seen where the side bar is too narrow for more than the words. */
function scoreIcon(score: number, best: number): string {
  const share = best > 0 ? score / best : 0;
  return share > 2 / 3 ? 'circle-filled' : share > 1 / 3 ? 'circle-small-filled' : 'circle-small';
}

/** Five marks, filled in proportion to the best score shown. */
export function scoreBar(score: number, best: number): string {
  const filled = best > 0 ? Math.min(BAR, Math.max(score > 0 ? 1 : 0, Math.round((BAR * score) / best))) : 0;
  return '▰'.repeat(filled) + '▱'.repeat(BAR - filled);
}

/** An entry of the profile; of a milestone or a stance the text without its date or reason is edited. */
function profileTarget(id: string, key: string, value: string, said: FactSource | undefined): MemoryTarget {
  const item = id.slice(`profile:${key}:`.length);
  return { kind: 'profile', id, key, text: item || value, ...originOf(said) };
}

function profileRow(field: ProfileField, index: number): Row {
  const target = profileTarget(field.id ?? `profile:${field.key}`, field.key, field.value, field.said);
  const marks = [...(field.stale ? [l10n.t('perhaps outdated')] : []), ...(field.sensitive ? [l10n.t('sensitive')] : [])];
  const said = field.said ? sourceWords(field.said) : sourceWord(field.source ?? '');
  return {
    ...leaf(target),
    ...(field.id ? {} : { id: `item:profile:${field.key}:${index}` }),
    label: oneLine(field.key),
    description: [oneLine(field.value), ...marks].join(' · '),
    tooltip: [field.key, field.value, [said, ...marks].filter(Boolean).join(' · ')].filter(Boolean).join('\n'),
    actions: `profile${target.origin ? '.said' : ''}.${field.sensitive ? 'sensitive' : 'open'}`,
    ...(field.sensitive ? { icon: 'lock' } : {}),
  };
}

function timelineRow(episodes: Episode[], total = episodes.length): Row | undefined {
  const dated = episodes.map((episode) => ({ ...episode, day: localDay(episode.date) }));
  const months = [...new Set(dated.map(({ day }) => day.slice(0, 7)))].sort().reverse();
  const rows = months.map((month, index): Row => {
    const mine = dated.filter(({ day }) => day.startsWith(month)).sort((a, b) => b.date.localeCompare(a.date));
    const label = new Date(`${month}-01T12:00:00Z`).toLocaleDateString(env.language, { month: 'long', year: 'numeric', timeZone: 'UTC' });
    const children = mine.map((episode): Row => ({
      ...leaf({ kind: 'episode', id: episode.id, text: episode.summary, ...originOf(episode.source) }),
      description: [episode.day, episode.outcome, lastPart(episode.project)].filter(Boolean).map((part) => oneLine(part!)).join(' · '),
      tooltip: [episode.summary, episode.outcome, episode.project].filter(Boolean).join('\n'),
    }));
    return { id: `month:${month}`, label, description: String(mine.length), children, expanded: index === 0 };
  });
  if (total > episodes.length) {
    const label = l10n.t('{0} older; search to see them', (total - episodes.length).toLocaleString(env.language));
    rows.push({ id: 'older', label, icon: 'ellipsis' });
  }
  return groupRow('timeline', l10n.t('Timeline'), 'history', rows, total);
}

function groupRow(id: string, label: string, icon: string, children: Row[], count = children.length): Row | undefined {
  return children.length ? { id, label, icon, children, description: count.toLocaleString(env.language) } : undefined;
}

function leaf(target: MemoryTarget, place = 'item'): Row {
  const label = shortened(oneLine(target.text), LABEL);
  return {
    id: `${place}:${target.kind}:${target.id}`,
    label,
    target,
    tooltip: target.text,
    actions: `${target.kind}${target.origin ? '.said' : ''}`,
    ...(WITH_DETAILS.has(target.kind) ? { command: { command: DETAILS, title: l10n.t('Where It Comes From') } } : {}),
  };
}

const WITH_DETAILS = new Set(['fact', 'episode', 'topic', 'project', 'profile']);

function described(description: string): Pick<Row, 'description'> {
  return description ? { description } : {};
}

/** A project's own name: the end of its path. */
function lastPart(path = ''): string {
  return path.split(/[\\/]/).findLast(Boolean) ?? '';
}

/** Who said something, and when. */
export function sourceWords({ kind, time }: FactSource): string {
  return [sourceWord(kind), localDay(time)].filter(Boolean).join(', ');
}

/** Who a fact is from, in a word; `provenance` may say more (`user (supersedes …)`). */
function sourceWord(kind: FactSource['kind']): string {
  const words: Record<string, string> = {
    user: l10n.t('you'),
    correction: l10n.t('you'),
    extraction: l10n.t('learned'),
    import: l10n.t('imported'),
    session: l10n.t('conversation'),
  };
  const word = kind.split(' ')[0]!;
  return words[word] ?? oneLine(word);
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
