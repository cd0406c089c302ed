/** What the graph's tab tells of a node, in words. */

import type { FactSource, ItemDetails } from './data';
import type { NodeDetails } from './graph-data';
import { sourceWords } from './memory-rows';

/** Most conversations and facts that are listed. */
const SOURCES = 5;

/** The server's details of an item as the page shows them; the latest sources first. */
export function nodeDetails(details: ItemDetails | undefined): NodeDetails {
  const sources = (details?.fact?.sources ?? details?.sources ?? []).slice(-SOURCES).reverse();
  return {
    text: details?.fact?.content ?? details?.text ?? '',
    sources: sources.map(({ session, message, ...source }: FactSource) => ({
      words: sourceWords({ ...source, ...(session ? { session } : {}) }),
      ...(session ? { session, ...(message ? { message } : {}) } : {}),
    })),
    facts: (details?.facts ?? []).map(({ id, content, category }) => ({ id: `fact:${id}`, text: content, category })),
  };
}
