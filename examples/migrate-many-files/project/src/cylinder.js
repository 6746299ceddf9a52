export function Cylinder(radius, height) {
  this.radius = radius
  this.height = height
}

Cylinder.prototype.volume = function () {
  return Math.PI * this.radius ** 2 * this.height
}
