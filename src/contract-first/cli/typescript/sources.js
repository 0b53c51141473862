/** Adds the condition `contract-first-source` to each import. With it, `contract-first` resolves to its sources. */
export const resolve = (specifier, context, nextResolve) =>
  nextResolve(specifier, { ...context, conditions: [...context.conditions, 'contract-first-source'] });
