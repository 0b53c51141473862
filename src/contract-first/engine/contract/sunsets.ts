/** Sunsets that the operator has postponed. */
import { OperatorError } from '../../operator-error.ts';
import type { AnyContract, Operation } from './contract.ts';

/** The contract with later sunsets for these operations. @throws OperatorError if one has no sunset, or a later one already */
export function extendSunsets<Kind extends AnyContract>(contract: Kind, sunsets: ReadonlyMap<string, Date>): Kind {
  const operations = new Map(contract.operations);
  for (const [id, sunset] of sunsets) {
    const operation = operations.get(id);
    const deprecation = operation?.deprecation;
    const declared = deprecation?.sunset;
    if (!declared) throw new OperatorError(`EXTEND_SUNSET: there is no operation ${id} with a sunset.`);
    if (sunset <= declared) {
      throw new OperatorError(
        `EXTEND_SUNSET: the sunset of ${id} is ${declared.toISOString()}, and can only be later.`,
      );
    }
    operations.set(id, { ...operation, deprecation: { ...deprecation, sunset } } as Operation);
  }
  return { ...contract, operations };
}
