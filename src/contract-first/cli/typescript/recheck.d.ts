/** The checker in JavaScript alone; `recheck` itself would look for Java and for binaries. */
declare module '#recheck' {
  const recheck: Pick<typeof import('recheck'), 'checkSync'>;
  export default recheck;
}
