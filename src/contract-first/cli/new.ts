export const run = async (_args: string[]) => 0;
