/** Adds the condition under which `contract-first` means its sources. */
export const resolve = (specifier, context, nextResolve) =>
  nextResolve(specifier, { ...context, conditions: [...context.conditions, 'contract-first-source'] });
