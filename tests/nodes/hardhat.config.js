// hardhat does not start without one.
export default {};
