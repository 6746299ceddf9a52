export function Circle(radius) {
  this.radius = radius
}

Circle.prototype.area = function () {
  return Math.PI * this.radius ** 2
}

Circle.prototype.perimeter = function () {
  return 2 * Math.PI * this.radius
}
