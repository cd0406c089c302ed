/** The little of VS Code's API that is needed where a module is tested outside the editor: words, unchanged. */

export const l10n = {
  t: (text: string, ...values: unknown[]) => text.replace(/\{(\d+)\}/g, (_, index: string) => String(values[Number(index)])),
};

export enum StatusBarAlignment {
  Left = 1,
  Right = 2,
}

export const env = { language: 'en' };
