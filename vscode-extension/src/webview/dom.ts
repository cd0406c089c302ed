/** Small helpers for building the panel's DOM, and its words in the user's language. */

/** The page's translations: English text to the user's language; filled from the page by the extension host. */
let bundle: Record<string, string> = {};

/** Takes the translations the extension host put into the page. */
export function loadStrings(source: Record<string, string>): void {
  bundle = source;
}

/** The text in the user's language, `{0}`, `{1}`, … replaced. */
export function t(text: string, ...values: (string | number)[]): string {
  return (bundle[text] ?? text).replace(/\{(\d+)\}/g, (whole, index: string) => String(values[Number(index)] ?? whole));
}

type Child = Node | string | undefined | false;

/** An element with properties, `data-*` and `aria-*` attributes and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Record<string, string | number | boolean | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (name === 'class') element.className = String(value);
    else if (value === true) element.setAttribute(name, '');
    else element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== undefined && child !== false));
  return element;
}

/** A codicon; decoration only, never the sole carrier of meaning. */
export function icon(name: string): HTMLElement {
  return h('span', { class: `codicon codicon-${name}`, 'aria-hidden': 'true' });
}

/** A button with a word on it. */
export function button(label: string, style: 'primary' | 'secondary' | 'link', onClick: () => void): HTMLButtonElement {
  const element = h('button', { type: 'button', class: style }, label);
  element.addEventListener('click', onClick);
  return element;
}

/** A button with only an icon; its label is read out and shown on hover. */
export function iconButton(name: string, label: string, onClick: () => void): HTMLButtonElement {
  const element = h('button', { type: 'button', class: 'icon', title: label, 'aria-label': label }, icon(name));
  element.addEventListener('click', onClick);
  return element;
}

/** The last part of a path or URI, decoded. */
export function baseName(uri: string): string {
  const path = uri.replace(/[?#].*$/, '');
  const name = path.slice(path.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // a literal percent sign in a file name
  }
}
