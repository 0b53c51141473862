/**
 * Makes imports of `contract-first` resolve to its sources, by the condition `contract-first-source` in its
 * package.json.
 */
export const resolve = (specifier, context, nextResolve) =>
  nextResolve(specifier, { ...context, conditions: [...context.conditions, 'contract-first-source'] });
