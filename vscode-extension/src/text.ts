/** Text of others where the editor shows it: in rows, notifications, lists and previews. */

/** Characters that are not seen, and those that turn the direction of all that follows them. */
const UNSEEN = /[\u0000-\u0008\u000e-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g;
const MARKUP = /\\([!-/:-@[-`{-~])|`([^`]*)`|!?\[([^\]]*)\]\([^)]*\)|(\*\*|__|~~)(?=\S)(.*?\S)\4|\*(?=\S)(.*?\S)\*|(?<=^|\n)#{1,6}\s+/g;

/** The text on one line. */
export function oneLine(text: string): string {
  return text.replace(UNSEEN, '').replace(/\s+/g, ' ').trim();
}

/** At most `limit` characters of a text, whole ones. */
export function shortened(text: string, limit: number): string {
  const characters = [...text];
  return characters.length > limit ? `${characters.slice(0, limit - 1).join('')}…` : text;
}

/** Text for a notification: the editor would make a link, even one that runs a command, of `[words](address)`. */
export function unlinked(text: string): string {
  return text.replace(/\](?=\()/g, ']\u200b');
}

/** Text for a label of a list, where the editor draws an icon for `$(name)`. */
export function withoutIcons(text: string): string {
  return text.replace(/\$\(/g, '\\$(');
}

/** Markdown of one sentence as plain text, for a notification. */
export function plain(markdown: string): string {
  const sentence = oneLine(withoutMarkup(markdown.trim().split(/\n\s*\n/)[0]!));
  // A list follows in the Markdown; here the sentence stands alone.
  return unlinked(sentence.replace(/:$/, '.'));
}

function withoutMarkup(text: string): string {
  return text.replace(MARKUP, (_, escaped?: string, code?: string, label?: string, _mark?: string, strong?: string, emphasis?: string) => {
    const inner = label ?? strong ?? emphasis;
    return escaped ?? code ?? (inner === undefined ? '' : withoutMarkup(inner));
  });
}

/**
 * The local day of a moment in ISO form as `YYYY-MM-DD`. A moment at midnight stands for a day that was written down without
 * an hour; that day it is everywhere. Empty where nobody wrote down a time.
 */
export function localDay(iso: string | undefined): string {
  if (!iso || iso.startsWith('1970-01-01')) return '';
  const [, day = '', time = ''] = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d(?:\.\d+)?))?/.exec(iso) ?? [];
  const moment = new Date(iso);
  if (!day || !time || /^[0:.]+$/.test(time) || Number.isNaN(moment.getTime())) return day;
  const two = (value: number) => String(value).padStart(2, '0');
  return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
}
