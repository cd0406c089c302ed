/** Kinds of nodes: what they are called, and how they are coloured. */

import { t } from './dom';

/** One of them; a kind of a newer server keeps its own name. */
export function kindName(kind: string): string {
  const names: Record<string, string> = {
    fact: t('fact'),
    project: t('project'),
    topic: t('topic'),
    profile: t('profile'),
    episode: t('episode'),
    session: t('conversation'),
    kbcontext: t('knowledge base'),
    skill: t('skill'),
    card: t('task'),
    tag: t('tag'),
  };
  return names[kind] ?? kind;
}

/** Many of them. */
export function kindNames(kind: string): string {
  const names: Record<string, string> = {
    fact: t('Facts'),
    project: t('Projects'),
    topic: t('Topics'),
    profile: t('Profile'),
    episode: t('Timeline'),
    session: t('Conversations'),
    kbcontext: t('Knowledge Bases'),
    skill: t('Skills'),
    card: t('Tasks'),
    tag: t('Tags'),
  };
  return names[kind] ?? kind;
}

/** The class that colours a kind. */
export function kindClass(kind: string): string {
  return `kind-${kind.replace(/[^\w-]/g, '')}`;
}
