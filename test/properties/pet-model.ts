/** The simplest model of a store: an array of pets, in the order of their creation. */

export interface Pet {
  id: bigint;
  status?: string;
  [field: string]: unknown;
}

export interface PageQuery {
  limit: number;
  status: string | undefined;
  /** Only pets that came after the one with this id. */
  after: bigint | undefined;
}

export class PetModel {
  readonly pets: Pet[] = [];

  /** The id is the store's choice, as long as it is higher than all before. */
  add(pet: Pet): void {
    const last = this.pets.at(-1);
    if (last && pet.id <= last.id) throw new Error(`pet ${pet.id} was made after pet ${last.id}`);
    this.pets.push(pet);
  }

  page({ limit, status, after }: PageQuery): { pets: Pet[]; isLast: boolean } {
    const rest = this.pets.filter(
      (pet) => (status === undefined || pet.status === status) && (after === undefined || pet.id > after),
    );
    return { pets: rest.slice(0, limit), isLast: rest.length <= limit };
  }
}
